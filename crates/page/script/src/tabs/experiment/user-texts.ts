// Texts of the reader's own: as `headlight train FILE` takes them.

import { TEXTS } from "../../model/described";
import { pageLab } from "../../engine/workers";
import { sum } from "../../model/numbers";
import { csvOfLines, isTable } from "../../model/csv";
import type { Config, UserData } from "../../model/types";

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

/** The SHA-256 of a file; empty where a browser tells none, as for pages that come over http. */
const hashOf = async (text: string) =>
  Array.from(new Uint8Array((await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(text))) ?? 0), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

// A training on few token ids takes about so many steps.
const STEPS = 1000;

/** Texts or token ids, with what the lab says of them. Throws an error with a sentence. @param text a table; if it was pasted, perhaps lines @param own the config of the page, whose model takes token ids */
export async function textsOf(text: string, name: string, isPasted: boolean, own: Config): Promise<UserData> {
  if (!text.trim())
    throw new Error(
      isPasted ? "There is nothing to train on yet: paste samples with labels, or choose a file" : `“${name}” is empty`,
    );
  checkSize(isPasted ? "This" : `“${name}”`, new Blob([text]).size);
  const table = !isPasted || isTable(text) ? text : csvOfLines(text);
  const { data, padding_token, choice, train, held_out, notes } = (await pageLab()).ask({
    operation: "texts",
    samples: { table },
    name,
    cls: own.data.cls,
  });
  const count = sum(train);
  const { model, training, ...others } = data.words ? TEXTS : own;
  const { seed, cls } = others.data;
  const epochs = Math.max(3, Math.ceil(STEPS / Math.ceil(count / training.batch_size)));
  const config = {
    ...others,
    data: { seed, cls, file: name, ...data },
    model: { ...model, attention: { ...model.attention, padding_token } },
    training: data.words ? training : { ...training, epochs },
  };
  return { table, count, config, sha256: await hashOf(table), brief: { choice, train, held_out, notes } };
}
