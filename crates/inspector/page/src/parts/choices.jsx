// Lists to choose from: what the matrix shows.

import { computed } from "@preact/signals";
import { here } from "../state.js";
import { change } from "../view.js";
import { rangesOf } from "./scale.jsx";
import { colourRange, show } from "./shown.js";

/** @typedef {import("../types").View} View */

/** @param {{ id: string, label: string, value: string | number, options: [string | number, string][], onChoose: (value: string) => void }} props */
export function Choice({ id, label, value, options, onChoose }) {
  return (
    <label>
      {label}{" "}
      <select id={id} value={String(value)} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option value={String(key)} selected={String(key) === String(value)} key={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const shape = computed(() => {
  const facts = here.value?.run.facts;
  return facts ? `${facts.layers},${facts.heads}` : "1,1";
});

/** How many layers and heads the run has. */
export const extents = () => shape.value.split(",").map(Number);

export function ColourChoice() {
  const options = rangesOf(show.value, here.value?.run.isShare);
  const value = options.some(([key]) => key === colourRange.value) ? colourRange.value : "unit";
  return (
    <Choice
      id="range"
      label="Colours"
      value={value}
      options={options}
      onChoose={(key) => change({ range: /** @type {View["range"]} */ (key) })}
    />
  );
}
