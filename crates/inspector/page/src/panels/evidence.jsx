/** Not written yet. */
export function Evidence() {
  return <section>Evidence</section>;
}
