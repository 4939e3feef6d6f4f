/** Not written yet. */
export function Guide() {
  return <section>Guide</section>;
}
