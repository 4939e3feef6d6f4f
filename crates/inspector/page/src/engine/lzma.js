// LZMA, which browsers do not unpack themselves: it makes the module a fifth smaller than what they do. Igor Pavlov's
// "LZMA specification" has the format and the names.

// The header of a file of xz: the settings, which build_lab.sh fixes (lc = 3, lp = 0, pb = 0), and two sizes. Then comes a zero.
const HEADER = 13;
const LITERAL_CONTEXT = 3;

// Where the models of bits lie, each the probability of a zero in 2048ths. A model of the first eight has one place for
// each of the 12 states.
const IS_MATCH = 0,
  IS_REP = 12,
  IS_REP0 = 24,
  IS_REP1 = 36,
  IS_REP2 = 48,
  IS_REP0_LONG = 60;
const SLOTS = 72,
  DISTANCES = SLOTS + 4 * 64,
  ALIGN = DISTANCES + 115;
const LENGTHS = ALIGN + 16,
  REP_LENGTHS = LENGTHS + 274,
  LITERALS = REP_LENGTHS + 274;

const LONGEST_MATCH = 273;

/** Unpacks a file that `xz --format=lzma` wrote with these settings. @param {Uint8Array} packed */
export function unlzma(packed) {
  const models = new Uint16Array(LITERALS + (0x300 << LITERAL_CONTEXT)).fill(1024);
  let out = new Uint8Array(4 * packed.length);
  let length = 0;
  let from = HEADER + 1;
  // The range and the code. An array holds them: engines box variables of this size while a function is not yet optimised.
  const coder = new Uint32Array([0xffffffff, 0]);
  for (let byte = 0; byte < 4; byte++) coder[1] = (coder[1] << 8) | packed[from++];

  /** Bits, the highest first, after those of `value`, until it reaches a power of two. @param {number} at @param {number} value @param {number} end */
  const bits = (at, value, end) => {
    let range = coder[0];
    let code = coder[1];
    while (value < end) {
      const model = models[at + value];
      const bound = (range >>> 11) * model;
      if (code < bound) {
        range = bound;
        models[at + value] = model + ((2048 - model) >> 5);
        value <<= 1;
      } else {
        range -= bound;
        code -= bound;
        models[at + value] = model - (model >> 5);
        value = (value << 1) | 1;
      }
      if (range < 0x1000000) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | packed[from++]) >>> 0;
      }
    }
    coder[0] = range;
    coder[1] = code;
    return value;
  };

  /** @param {number} at */
  const bit = (at) => bits(at - 1, 1, 2) - 2;

  /** A number of so many bits, the highest first. @param {number} at @param {number} count */
  const number = (at, count) => bits(at, 1, 1 << count) - (1 << count);

  /** The same, the lowest bit first. @param {number} at @param {number} count */
  const reversed = (at, count) => {
    let value = 0;
    for (let node = 1, place = 0; place < count; place++) {
      const one = bit(at + node);
      node = (node << 1) | one;
      value |= one << place;
    }
    return value;
  };

  /** The length of a match. @param {number} at */
  const matched = (at) =>
    !bit(at) ? 2 + number(at + 2, 3) : !bit(at + 1) ? 10 + number(at + 10, 3) : 18 + number(at + 18, 8);

  /** How far back a new match lies, less one. @param {number} slot */
  const distance = (slot) => {
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) << count;
    if (slot < 14) return high + reversed(DISTANCES + high - slot, count);
    let value = 0;
    // These bits are as often 0 as 1, and have no model.
    for (let left = count - 4; left; left--) {
      coder[0] >>>= 1;
      const one = coder[1] < coder[0] ? 0 : 1;
      if (one) coder[1] -= coder[0];
      value = (value << 1) | one;
      if (coder[0] < 0x1000000) {
        coder[0] <<= 8;
        coder[1] = (coder[1] << 8) | packed[from++];
      }
    }
    return (high + (value << 4) + reversed(ALIGN, 4)) >>> 0;
  };

  let state = 0;
  // The distances of the last four matches, less one.
  let [rep0, rep1, rep2, rep3] = [0, 0, 0, 0];
  for (;;) {
    if (out.length < length + LONGEST_MATCH) {
      const longer = new Uint8Array(2 * out.length);
      longer.set(out);
      out = longer;
    }
    if (!bit(IS_MATCH + state)) {
      const at = LITERALS + 0x300 * (length && out[length - 1] >> (8 - LITERAL_CONTEXT));
      let value = 1;
      if (state > 6) {
        // As long as the bits are those of the byte at the last distance, they have models of their own.
        for (let byte = out[length - rep0 - 1], alike = true; alike && value < 0x100; byte <<= 1) {
          const expected = (byte >> 7) & 1;
          const one = bit(at + ((1 + expected) << 8) + value);
          value = (value << 1) | one;
          alike = one === expected;
        }
      }
      out[length++] = bits(at, value, 0x100);
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count = 1;
    if (!bit(IS_REP + state)) {
      [rep1, rep2, rep3] = [rep0, rep1, rep2];
      count = matched(LENGTHS);
      state = state < 7 ? 7 : 10;
      rep0 = distance(number(SLOTS + 64 * Math.min(count - 2, 3), 6));
      if (rep0 === 0xffffffff) return out.subarray(0, length);
    } else {
      const isOlder = bit(IS_REP0 + state);
      if (isOlder) {
        if (!bit(IS_REP1 + state)) [rep0, rep1] = [rep1, rep0];
        else if (!bit(IS_REP2 + state)) [rep0, rep1, rep2] = [rep2, rep0, rep1];
        else [rep0, rep1, rep2, rep3] = [rep3, rep0, rep1, rep2];
      }
      if (isOlder || bit(IS_REP0_LONG + state)) {
        count = matched(REP_LENGTHS);
        state = state < 7 ? 8 : 11;
      } else {
        state = state < 7 ? 9 : 11;
      }
    }
    for (const end = length + count; length < end; length++) out[length] = out[length - rep0 - 1];
  }
}
