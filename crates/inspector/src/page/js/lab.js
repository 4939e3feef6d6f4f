// The experiment as WebAssembly (`crates/lab`), and the worker that trains with it.

// A message is the length of its JSON, the JSON, whose length is a multiple of four, and float32 numbers
// (`message.rs`). This class is sent to the worker as text, too.
class Lab {
  constructor(instance) {
    this.exports = instance.exports;
  }

  ask(head, floats = new Float32Array()) {
    const { memory, request, respond, answered } = this.exports;
    const text = JSON.stringify(head).replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
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

// The worker: trains a config, and sends each part of the training as it comes.
function work() {
  const PART = 250;
  onmessage = async ({ data: { module, config, steps, tokens } }) => {
    try {
      const lab = new Lab(await WebAssembly.instantiate(module));
      const begun = lab.ask({ operation: "begin", config, steps, tokens });
      postMessage({ begun: { ...begun, floats: null } });
      for (let step = 0; step < begun.steps;) {
        const part = lab.ask({ operation: "advance", steps: PART });
        step = part.step;
        postMessage({ part }, [part.floats.buffer]);
      }
      postMessage({ ended: lab.ask({ operation: "end" }) });
    } catch (error) {
      postMessage({ failed: error.message });
    }
  };
}

// Trains in a worker. `heard` gets each message.
function trainInWorker(task, heard) {
  const url = URL.createObjectURL(new Blob([`"use strict";\n${Lab}\n(${work})();`], { type: "text/javascript" }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = ({ data }) => {
    if (data.ended || data.failed) worker.terminate();
    heard(data);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    worker.terminate();
    heard({ failed: event.message || "the worker could not start" });
  };
  worker.postMessage(task);
  return worker;
}
