// Packed parts of the page: gzip, as text of base 64.

/** The text of an element of the page; null without such an element. */
export const held = (id: string) => document.getElementById(id)?.textContent ?? null;

/** What a packed part holds. */
export function inflated(text: string) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}
