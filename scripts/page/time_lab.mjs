// Times crates/lab/lab.wasm.lzma in Node: medians and fastest times in milliseconds for the notebook's config.
//
//     node scripts/page/time_lab.mjs [REPETITIONS [MODULE]]
import { readFileSync } from 'node:fs';
import { unlzma } from '../../crates/inspector/page/src/engine/lzma.js';

const repetitions = Number(process.argv[2] ?? 11);
const path = process.argv[3] ?? new URL('../../crates/lab/lab.wasm.lzma', import.meta.url);
const bytes = readFileSync(path);
const { instance } = await WebAssembly.instantiate(bytes[0] === 0 ? bytes : unlzma(bytes));
const { memory, request, respond, answered } = instance.exports;

/** Sends a request, and reads its answer as the page does. */
function ask(head, floats = new Float32Array()) {
    let text = JSON.stringify(head);
    text = text.padEnd(Math.ceil(text.length / 4) * 4);
    const written = new TextEncoder().encode(text);
    const at = request(4 + written.length + 4 * floats.length);
    new DataView(memory.buffer).setUint32(at, written.length, true);
    new Uint8Array(memory.buffer, at + 4).set(written);
    new Float32Array(memory.buffer, at + 4 + written.length, floats.length).set(floats);
    const found = respond();
    const length = new DataView(memory.buffer).getUint32(found, true);
    const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, found + 4, length)));
    if (answer.error) throw new Error(answer.error);
    return [answer, new Float32Array(memory.buffer.slice(found + 4 + length, found + answered()))];
}

// What configs/notebook.toml sets; the rest is as the defaults.
const config = {
    data: {
        generator: 'numpy', samples: 8000, held_out: 2000, vocab_size: 51, seq_len: 6,
        rule: { kind: 'token-at-position', token: 42, position: 3 },
    },
    model: { d_model: 8 },
    training: { epochs: 3, batch_size: 16 },
};

const times = {};
function timed(name, act) {
    const start = performance.now();
    const result = act();
    (times[name] ??= []).push(performance.now() - start);
    return result;
}

let hash;
for (let repetition = 0; repetition < repetitions; repetition++) {
    const begun = timed('begin', () => ask({ operation: 'begin', config })[0]);
    const [, floats] = timed('advance, all steps', () => ask({ operation: 'advance' }));
    const ended = timed('end', () => ask({ operation: 'end' })[0]);
    const size = begun.row[0][1];
    const row = begun.row.reduce((sum, [, length]) => sum + length, 0);
    const rows = floats.subarray(begun.steps);
    const steps = rows.length / row;
    const weights = new Float32Array(steps * size);
    for (let step = 0; step < steps; step++) weights.set(rows.subarray(step * row, step * row + size), step * size);
    const last = weights.subarray((steps - 1) * size);
    const tokens = [begun.samples[0].tokens];
    const all = begun.samples.map((sample) => sample.tokens);
    timed(`watch, 1 sample, ${steps} steps`, () => ask({ operation: 'watch', config, tokens }, weights));
    timed(`watch, ${all.length} samples, ${steps} steps`, () => ask({ operation: 'watch', config, tokens: all }, weights));
    timed(`look, ${all.length} samples`, () => ask({ operation: 'look', config, tokens: all }, last));
    timed('attribute', () => ask({ operation: 'attribute', config, tokens }, last));
    const measured = timed('summary', () => ask({ operation: 'summary', config })[0]);
    if (measured.weights_sha256 !== ended.weights_sha256) throw new Error('the trainings differ');
    hash = ended.weights_sha256;
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
function print(name, ...figures) {
    console.log(name.padEnd(32), ...figures.map((figure) => figure.toFixed(2).padStart(8)));
}
console.log('milliseconds'.padEnd(32), '  median', ' fastest');
for (const [name, values] of Object.entries(times)) print(name, median(values), Math.min(...values));
const parts = ['begin', 'advance, all steps', 'end'].map((name) => times[name]);
const all = times.begin.map((_, index) => parts.reduce((sum, values) => sum + values[index], 0));
print('begin to end', median(all), Math.min(...all));
console.log('weights', hash);
