// Small parts that several panels share.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

/** Text that a screen reader reads aloud. */
const announcement = signal("");
export const announce = (text: string) => {
  announcement.value = text;
};

/** What a key does here, in place of what the browser does; nothing for others, and with a modifier. */
export function meaningOf<T>(event: KeyboardEvent, keys: Record<string, T>): T | undefined {
  const found = keys[event.key];
  if (found === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  event.preventDefault();
  return found;
}

type ChoiceProps = {
  kind?: string;
  id?: string;
  name?: string;
  label: ComponentChildren;
  value?: string | number;
  options: (string | number)[][];
  onChoose?: (value: string) => void;
};

/** A list to choose from, of keys with their texts. */
export const Choice = ({ kind, id, name, label, value, options, onChoose }: ChoiceProps) => (
  <label class={kind}>
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

/** Saves a file, and says so. */
export function saveFile(name: string, blob: Blob) {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  const text = `Saved ${name}`;
  announce(text);
  return text;
}

/** What is announced. */
export const Announced = () => (
  <p id="said" class="unseen" role="status">
    {announcement.value}
  </p>
);

/** The width of an element in pixels, and the size of the root's font as a multiple of the usual one. */
export function useSize() {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, unit: 1 });
  useLayoutEffect(() => {
    const element = ref.current as HTMLDivElement;
    const measure = () => {
      const [width, unit] = [element.clientWidth, parseFloat(getComputedStyle(document.documentElement).fontSize) / 16];
      setSize((before) => (before.width === width && before.unit === unit ? before : { width, unit }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return [ref, size] as const;
}
