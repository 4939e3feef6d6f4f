// A sample that the reader types into a live page.

sections.push({
  start() {
    byId("own").addEventListener("submit", (event) => {
      event.preventDefault();
      const sample = ownSample(byId("own-tokens").value);
      if (sample !== null) change({ sample }, true);
    });
  },
  show() {
    const { tokens } = typeof view.sample === "number" ? facts.samples[view.sample] : { tokens: null };
    // The shown sample is there to be changed.
    if (tokens && document.activeElement !== byId("own-tokens")) byId("own-tokens").value = tokens.filter((_, position) => position !== facts.cls).join(" ");
  },
});

// Computes the reader's sample; returns its index, or says why it cannot be and returns null.
function ownSample(text) {
  const said = byId("own-said");
  const words = text.split(/[\s,;]+/).filter((word) => word !== "" && word !== "[CLS]");
  const wrong = words.find((word) => !/^\d{1,9}$/.test(word));
  try {
    if (wrong !== undefined) throw new Error(`“${shorten(wrong, 20)}” is no token; tokens are whole numbers`);
    const tokens = words.map(Number);
    tokens.splice(facts.cls, 0, 0);
    if (tokens.indexOf(0, facts.cls + 1) >= 0 || tokens.indexOf(0) < facts.cls) throw new Error("0 is [CLS], which the page adds itself");
    const sample = source.lookAt(tokens);
    renew();
    setText(said, "");
    return sample;
  } catch (error) {
    setText(said, `${error.message}.`);
    return null;
  }
}
