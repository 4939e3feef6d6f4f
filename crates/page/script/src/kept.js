// What was made before.

/** The value of a key, made if it is not at hand. Of more keys than there is room for, the one asked for first goes. @template K, T @param {Map<K, T>} kept @param {number} most @param {K} key @param {() => T} make @returns {T} */
export function known(kept, most, key, make) {
  const found = kept.has(key) ? /** @type {T} */ (kept.get(key)) : make();
  // The one used last comes last.
  kept.delete(key);
  kept.set(key, found);
  if (kept.size > most) kept.delete(/** @type {K} */ (kept.keys().next().value));
  return found;
}

/** The same for each object. @template {object} O, K, T @param {WeakMap<O, Map<K, T>>} all @param {O} of @param {number} most @param {K} key @param {() => T} make @returns {T} */
export function knownOf(all, of, most, key, make) {
  const kept = all.get(of) ?? new Map();
  all.set(of, kept);
  return known(kept, most, key, make);
}
