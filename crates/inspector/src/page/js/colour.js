// The colours of values. The theme (`theme.rs`) gives the stops of viridis and has the same rule for black or white text.

// Blue below zero, white at zero, orange above.
const DIVERGING = [[20, 75, 140], [80, 140, 195], [247, 247, 247], [224, 150, 60], [150, 70, 0]];

function between(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  return stops[below].map((from, channel) => Math.round(from + (stops[below + 1][channel] - from) * (place - below)));
}

// The colour of a value, and black or white for text on it, whichever contrasts more.
function colours(value, scale) {
  const share = (value - scale.from) / (scale.to - scale.from || 1);
  const rgb = between(scale.diverging ? DIVERGING : page.viridis, share);
  const [r, g, b] = rgb.map((channel) => {
    const part = channel / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return { fill: `rgb(${rgb.join(",")})`, ink: luminance > 0.179 ? "#000000" : "#ffffff" };
}

const mostScore = new Map();
sections.push({ renew: () => mostScore.clear() });

// All rows of the shown head: of each step, sample and query.
function* rowsOfHead() {
  for (let step = 0; step < STEPS; step++) {
    for (const sample of facts.samples.keys()) for (let query = 0; query < P; query++) yield [step, sample, view.layer, view.head, query];
  }
}

// The first and last value of the colours: fixed, so that pictures can be compared.
function scaleOf(show, run) {
  if (run === "deviation" && show !== "scores") return { from: 0, to: 0.2, diverging: false, more: true };
  if (show === "weights") return { from: 0, to: 1, diverging: false };
  if (show === "uniform" || show === "difference") return { from: -1, to: 1, diverging: true };
  const key = `${view.layer},${view.head}`;
  if (!mostScore.has(key)) {
    let most = 0;
    for (const index of runs.keys()) within(index, () => {
      for (const where of rowsOfHead()) for (const score of scoreRow(...where)) most = Math.max(most, Math.abs(score));
    });
    mostScore.set(key, most || 1);
  }
  const most = mostScore.get(key);
  return { from: -most, to: most, diverging: true };
}
