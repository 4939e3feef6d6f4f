/** Not written yet. */
export function ExperimentTab() {
  return <section>ExperimentTab</section>;
}
