// Small parts that several panels share.

import { signal } from "@preact/signals";

/** Text that a screen reader reads aloud. */
export const said = signal("");
export const say = (text: string) => {
  said.value = text;
};

/** Whether a key has a meaning of the browser's. */
export const hasModifier = (event: KeyboardEvent) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;

type ChoiceProps = {
  id?: string;
  name?: string;
  label: string;
  value?: string | number;
  options: (string | number)[][];
  onChoose?: (value: string) => void;
};

/** A list to choose from, of keys with their texts. */
export const Choice = ({ id, name, label, value, options, onChoose }: ChoiceProps) => (
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

export function saveFile(name: string, blob: Blob) {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`Saved ${name}`);
}
