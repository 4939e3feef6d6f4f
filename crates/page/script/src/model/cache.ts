// What was made before.

/** The value of a key, made if it is not at hand. Of more keys than there is room for, the one asked for first goes. */
export function cached<K, T>(kept: Map<K, T>, most: number, key: K, make: () => T): T {
  const found = kept.has(key) ? (kept.get(key) as T) : make();
  // The one used last comes last.
  kept.delete(key);
  kept.set(key, found);
  if (kept.size > most) kept.delete(kept.keys().next().value as K);
  return found;
}

/** The same for each object. */
export function cachedOf<O extends object, K, T>(
  all: WeakMap<O, Map<K, T>>,
  of: O,
  most: number,
  key: K,
  make: () => T,
): T {
  const kept = all.get(of) ?? new Map();
  all.set(of, kept);
  return cached(kept, most, key, make);
}
