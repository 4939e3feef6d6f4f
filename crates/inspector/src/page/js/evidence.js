// Where the numbers come from, for each run.

let evidence;
sections.push({
  start() {
    evidence = addSection("evidence", "Origin of the numbers");
    showEvidence();
  },
  renew: showEvidence,
});

function showEvidence() {
  evidence.replaceChildren();
  if (page.apart) evidence.append(make("p", {}, `No mean over the runs: ${page.apart}.`));
  for (const [run, { facts }] of runs.entries()) {
    const entries = facts.evidence.flatMap(({ name, text }) => {
      const long = text.includes("\n");
      const content = long ? make("details", {}, make("summary", {}, "show"), make("pre", { tabindex: 0 }, text)) : text;
      return [make("dt", {}, name), make("dd", {}, content)];
    });
    const title = runs.length > 1 ? make("h3", {}, isolate(runName(run))) : null;
    const notes = make("ul", {}, ...facts.notes.map((note) => make("li", {}, note)));
    evidence.append(make("div", {}, ...[title, notes, make("dl", {}, ...entries)].filter(Boolean)));
  }
}
