/** Not written yet. */
export function Attention() {
  return <section>Attention</section>;
}
