// Packed data of the page.

/** Five letters to four bytes (`text85.rs`). @param {string} text */
function bytesOf(text) {
  const words = new DataView(new ArrayBuffer(text.length / 5 * 4));
  for (let at = 0; at < text.length; at += 5) {
    let word = 0;
    for (let letter = at; letter < at + 5; letter++) {
      const code = text.charCodeAt(letter);
      word = word * 85 + (code === 126 ? 60 : code) - 40;
    }
    words.setUint32(at / 5 * 4, word);
  }
  return new Uint8Array(words.buffer);
}

/** The bytes that an element of the page holds, inflated; null without such an element. @param {string} id @param {CompressionFormat} format */
export async function unpacked(id, format) {
  const element = document.getElementById(id);
  if (!element) return null;
  const packed = bytesOf(element.textContent ?? "").subarray(0, Number(element.dataset.bytes));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));
  return new Response(stream).arrayBuffer();
}
