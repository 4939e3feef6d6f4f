// Texts of the reader's own: as `headlight train FILE` takes them.

import { TEXTS } from "../../model/described";
import { pageLab } from "../../engine/workers";
import { sum } from "../../model/numbers";
import { csvOfLines, isTable } from "../../model/csv";
import type { UserTexts } from "../../model/types";

/** The most bytes of a file of texts. */
const MAX_BYTES = 2e6;

/** What a file holds, as text. Throws an error with a sentence. */
export async function textOf(file: File) {
  if (/\.(jsonl|npz|gz|xlsx?|ods|pdf|docx?)$/i.test(file.name))
    throw new Error(`The page reads CSV; save “${file.name}” as CSV`);
  checkSize(`“${file.name}”`, file.size);
  try {
    // As the file has it, with its byte order mark.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`“${file.name}” is not UTF-8 text; save it as CSV in UTF-8`);
  }
}

function checkSize(name: string, bytes: number) {
  if (bytes > MAX_BYTES)
    throw new Error(
      `${name} has ${(bytes / 1e6).toFixed(1)} MB, and the page takes ${MAX_BYTES / 1e6} MB; \`headlight train\` takes more`,
    );
}

/** Texts, with what the lab says of them. Throws an error with a sentence. @param text a table; if it was pasted, perhaps lines */
export async function textsOf(text: string, name: string, isPasted: boolean): Promise<UserTexts> {
  if (!text.trim())
    throw new Error(
      isPasted ? "There is nothing to train on yet: paste texts with labels, or choose a file" : `“${name}” is empty`,
    );
  checkSize(isPasted ? "This" : `“${name}”`, new Blob([text]).size);
  const table = !isPasted || isTable(text) ? text : csvOfLines(text);
  const { data, padding_token, choice, train, held_out, notes } = (await pageLab()).ask({
    operation: "texts",
    samples: { table },
    name,
  });
  const { model } = TEXTS;
  const config = {
    ...TEXTS,
    data: { ...TEXTS.data, file: name, ...data },
    model: { ...model, attention: { ...model.attention, padding_token } },
  };
  return { table, count: sum(train), config, brief: { choice, train, held_out, notes } };
}
