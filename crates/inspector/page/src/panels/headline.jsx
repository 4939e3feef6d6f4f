/** Not written yet. */
export function Headline() {
  return <section>Headline</section>;
}
