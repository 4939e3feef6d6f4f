/** Not written yet. */
export function SampleCard() {
  return <section>SampleCard</section>;
}
