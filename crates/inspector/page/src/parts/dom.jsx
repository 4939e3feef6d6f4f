// Small parts that several panels share.

import { signal } from "@preact/signals";
import { fixed } from "../numbers.js";

/** Text that a screen reader reads aloud. */
export const said = signal("");
/** @param {string} text */
export const say = (text) => { said.value = text; };

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

/** @param {string} text @param {string} what */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.className = "unseen";
    area.setAttribute("aria-label", "text to copy");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`Copied: ${what}`);
}

/**
 * A table of numbers, with a title, a text, and a button that copies it as tab-separated values.
 * @param {{ id: string, title: string, text?: any, columns: string[], rows: (string | number)[][] }} props
 */
export function NumberTable({ id, title, text, columns, rows }) {
  const words = rows.map((row) => row.map((cell) => typeof cell === "number" ? fixed(cell) : cell));
  const tsv = () => [columns, ...words].map((line) => line.map((cell) => cell.replace(/[\t\r\n]/g, " ")).join("\t")).join("\n");
  return (
    <figure id={`stage-${id}`} class="stage">
      <figcaption>
        <h3>{title}</h3>
        {text && <p>{text}</p>}
        <button type="button" aria-label={`Copy the table: ${title}`} onClick={() => copyText(tsv(), title)}>Copy</button>
      </figcaption>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table class="numbers">
          <thead><tr>{columns.map((column, at) => column ? <th scope="col" key={at}>{column}</th> : <td key={at} />)}</tr></thead>
          <tbody>{words.map(([name, ...cells], at) => <tr key={at}><th scope="row"><bdi>{name}</bdi></th>{cells.map((cell, column) => <td key={column}><bdi>{cell}</bdi></td>)}</tr>)}</tbody>
        </table>
      </div>
    </figure>
  );
}
