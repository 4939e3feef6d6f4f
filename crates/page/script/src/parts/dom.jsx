// Small parts that several panels share.

import { signal } from "@preact/signals";

/** Text that a screen reader reads aloud. */
export const said = signal("");
/** @param {string} text */
export const say = (text) => {
  said.value = text;
};

/** Whether a key has a meaning of the browser's. @param {KeyboardEvent} event */
export const hasModifier = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;

/** A list to choose from, of keys with their texts. @param {{ id?: string, name?: string, label: string, value?: string | number, options: (string | number)[][], onChoose?: (value: string) => void }} props */
export const Choice = ({ id, name, label, value, options, onChoose }) => (
  <label>
    {label}{" "}
    <select id={id} name={name} value={value} onChange={(event) => onChoose?.(event.currentTarget.value)}>
      {options.map(([key, text]) => (
        <option key={key} value={key} selected={String(key) === String(value)}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

/** @param {string} name @param {Blob} blob */
export function saveFile(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`Saved ${name}`);
}
