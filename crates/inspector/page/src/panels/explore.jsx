/** Not written yet. */
export function Explore() {
  return <section>Explore</section>;
}
