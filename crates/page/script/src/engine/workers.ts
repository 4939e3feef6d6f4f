// Workers that run the experiment beside the page.

import code from "worker:lab";
import { held } from "../model/packed";
import { Lab } from "./lab";

/** The worker that stands ready. */
let spare: LabWorker | undefined;

let compiled: Promise<WebAssembly.Module> | undefined;

/** The module of `crates/lab`, made once. */
const labModule = () => (compiled ??= madeModule());

// A worker unpacks and compiles it, so that the page can draw meanwhile.
async function madeModule() {
  spare = new LabWorker();
  return spare.send({ packed: held("lab") });
}

let own: Promise<Lab> | undefined;

/** The lab of the page itself, for what is answered at once. */
export const pageLab = () => (own ??= labModule().then((module) => Lab.of(module)));

/** A worker: the one that stands ready, if there is one. */
export async function newWorker() {
  const module = await labModule();
  const found = spare ?? new LabWorker(module);
  spare = undefined;
  return found;
}

/** Has a worker stand ready: to start one takes as long as a small training. */
export async function prepareWorker() {
  const module = await labModule();
  spare ??= new LabWorker(module);
}

type Task = { name: "train" | "seeds" | "watch" } & Record<string, unknown>;

/** A worker. Tasks run one after the other; `stop` ends it at once. */
export class LabWorker {
  worker: Worker;

  #next = 0;
  /** Why it answers nothing. */
  #broken = "";
  #listeners: Map<number, (answer: any) => void> = new Map();

  /** @param module without it, the worker gets one later */
  constructor(module?: WebAssembly.Module) {
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => {
      const onAnswer = this.#listeners.get(data.id);
      if (data.ended || data.failed) this.#listeners.delete(data.id);
      onAnswer?.(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message || "the worker could not start");
    };
    if (module) this.worker.postMessage({ module });
  }

  /** Sends a task, or what the worker needs before one; `onAnswer` gets each answer. Resolves with what the last answer holds. */
  send(message: { task: Task } | { packed: string | null }, onAnswer: (answer: any) => void = () => {}): Promise<any> {
    const id = ++this.#next;
    if (this.#broken) return Promise.reject(new Error(this.#broken));
    return new Promise((resolve, reject) => {
      this.#listeners.set(id, (answer) => {
        onAnswer(answer);
        if (answer.failed) reject(new Error(answer.failed));
        else if (answer.ended) resolve(answer.ended);
      });
      this.worker.postMessage({ id, ...message });
    });
  }

  stop() {
    this.worker.terminate();
    this.#fail("the worker was stopped");
  }

  #fail(why: string) {
    this.#broken = why;
    for (const onAnswer of this.#listeners.values()) onAnswer({ failed: why });
    this.#listeners.clear();
  }
}
