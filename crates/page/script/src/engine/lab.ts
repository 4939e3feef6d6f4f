// The experiment as WebAssembly (`crates/lab`): one request, one answer.

import type { Answers, Arrays, Row } from "../model/types";

type Exports = { memory: WebAssembly.Memory; request(bytes: number): number; respond(): number; answered(): number };
type Floats = { floats: Float32Array<ArrayBuffer> };
export type Request<O extends keyof Answers> = { operation: O } & Record<string, unknown>;

// A message is the length of its JSON, the JSON, whose length is a multiple of four, and float32 numbers (`message.rs`).
export class Lab {
  exports = this.instance.exports as Exports;

  constructor(
    readonly module: WebAssembly.Module,
    readonly instance: WebAssembly.Instance,
  ) {}

  static async of(module: WebAssembly.Module) {
    return new Lab(module, await WebAssembly.instantiate(module));
  }

  /**
   * Answers a request. Throws an error with a sentence if the experiment refuses it.
   * @returns the answer's JSON, with its numbers as `floats`
   */
  ask<O extends keyof Answers>(head: Request<O>, floats: Float32Array = new Float32Array()): Answers[O] & Floats {
    try {
      return this.#answer(head, floats);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      // What it was doing is lost, and with it the order of its memory.
      this.exports = new WebAssembly.Instance(this.module).exports as Exports;
      throw new Error("the engine stopped; this may need more memory than the browser gives it");
    }
  }

  #answer(head: Record<string, unknown>, floats: Float32Array) {
    const { memory, request, respond, answered } = this.exports;
    // A letter and its accents are one character, as the module expects it.
    const text = JSON.stringify(head)
      .normalize("NFC")
      .replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const json = new TextEncoder().encode(text.padEnd(4 * Math.ceil(text.length / 4)));
    const at = request(4 + json.length + floats.byteLength);
    new DataView(memory.buffer).setUint32(at, json.length, true);
    const bytes = new Uint8Array(memory.buffer, at + 4);
    bytes.set(json);
    bytes.set(new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength), json.length);
    const from = respond();
    const length = new DataView(memory.buffer).getUint32(from, true);
    const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, from + 4, length)));
    if (answer.error) throw new Error(answer.error);
    answer.floats = new Float32Array(memory.buffer.slice(from + 4 + length, from + answered()));
    return answer;
  }
}

/** Named parts of a row of numbers. */
export function partsOf(names: Row, floats: Float32Array, start = 0): Arrays {
  return Object.fromEntries(names.map(([name, length]) => [name, floats.subarray(start, (start += length))]));
}

export const sizeOf = (names: Row) => names.reduce((sum, [, length]) => sum + length, 0);
