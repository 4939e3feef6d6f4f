// Packed data of the page.

/** Letters to digits of base 91 (`text91.rs`). @param {number} code */
const digit = (code) => (code === 33 ? 38 : code === 35 ? 60 : code) - 36;

/** Pairs of letters to 13 or 14 bits each (`text91.rs`). @param {string} text @param {number} length of the bytes */
export function bytesOf(text, length) {
  const bytes = new Uint8Array(length);
  let queue = 0,
    held = 0;
  for (let letter = 0, at = 0; at < length; letter += 2) {
    const pair = digit(text.charCodeAt(letter)) + 91 * digit(text.charCodeAt(letter + 1));
    queue |= pair << held;
    held += (pair & 8191) < 89 ? 14 : 13;
    for (; held > 7; held -= 8, queue >>= 8) bytes[at++] = queue;
  }
  return bytes;
}

/** What an element of the page holds, as text, and the number of its bytes; null without such an element. @param {string} id */
export function held(id) {
  const element = document.getElementById(id);
  return element && { text: element.textContent ?? "", length: Number(element.dataset.bytes) };
}

/** The bytes that an element of the page holds, inflated; null without such an element. @param {string} id @param {CompressionFormat} format */
export async function unpacked(id, format) {
  const packed = held(id);
  if (!packed) return null;
  const stream = new Blob([bytesOf(packed.text, packed.length)]).stream().pipeThrough(new DecompressionStream(format));
  return new Response(stream).arrayBuffer();
}
