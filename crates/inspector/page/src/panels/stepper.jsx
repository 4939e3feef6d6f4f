/** Not written yet. */
export function Stepper() {
  return <section>Stepper</section>;
}
