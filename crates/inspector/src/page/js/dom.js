// Elements from names, attributes and text. Text is never parsed as markup.

const byId = (id) => document.getElementById(id);

// The sections of the page. The file of each adds it: `start` runs once, `show` after each change of the view.
const sections = [];

// A section after the fixed ones of body.html: returns the element to fill.
function addSection(id, title) {
  const content = make("div");
  byId("rest").append(make("section", { id, "aria-labelledby": `${id}-title` }, make("h2", { id: `${id}-title` }, title), content));
  return content;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const draw = (name, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// Text that may run from right to left, isolated so that it does not reorder the text around it.
const isolate = (text) => make("bdi", {}, text);

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function fixed(value, decimals = 4) {
  const text = value.toFixed(decimals);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text;
}

// Text of at most this many characters; shortened text ends with "…".
function shorten(text, most) {
  const characters = Array.from(text);
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

const range = (count) => Array.from({ length: count }, (_, index) => index);

const say = (text) => { byId("said").textContent = text; };
