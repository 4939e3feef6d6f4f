/** Not written yet. */
export function Time() {
  return <section>Time</section>;
}
