// Workers that run the experiment beside the page.

import code from "worker:lab";
import { unpacked } from "../packed.js";

/** @type {Promise<WebAssembly.Module> | undefined} */
let compiled;

/** Why the page cannot compute, or null. */
export const cannot = () => {
  if (!document.getElementById("lab")) return "this page holds no engine";
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") return "this browser has no WebAssembly or no workers";
  return null;
};

/** The module of `crates/lab`, compiled once. @returns {Promise<WebAssembly.Module>} */
export function labModule() {
  compiled ??= unpacked("lab", "gzip").then((bytes) => WebAssembly.compile(/** @type {ArrayBuffer} */ (bytes)));
  return compiled;
}

/** A worker. Tasks run one after the other; `stop` ends it at once. */
export class LabWorker {
  #next = 0;
  /** @type {Map<number, (answer: any) => void>} */
  #heard = new Map();

  /** @param {WebAssembly.Module} module */
  constructor(module) {
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => {
      const heard = this.#heard.get(data.id);
      if (data.ended || data.failed) this.#heard.delete(data.id);
      heard?.(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      for (const heard of this.#heard.values()) heard({ failed: event.message || "the worker could not start" });
      this.#heard.clear();
    };
    this.worker.postMessage({ module });
  }

  /**
   * Runs a task; `heard` gets each answer. Resolves with what the task ends with.
   * @param {{ name: "train" | "seeds" | "ask" } & Record<string, unknown>} task
   * @param {(answer: any) => void} [heard]
   * @param {Transferable[]} [moved]
   * @returns {Promise<any>}
   */
  run(task, heard = () => {}, moved = []) {
    const id = ++this.#next;
    return new Promise((resolve, reject) => {
      this.#heard.set(id, (answer) => {
        heard(answer);
        if (answer.failed) reject(new Error(answer.failed));
        else if (answer.ended) resolve(answer.ended);
      });
      this.worker.postMessage({ id, task }, moved);
    });
  }

  stop() {
    this.worker.terminate();
  }
}
