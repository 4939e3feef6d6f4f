/** Not written yet. */
export function Seeds() {
  return <section>Seeds</section>;
}
