// NumPy's formats: arrays (.npy), and a zip of them (.npz), stored without compression.

/** @typedef {{ type: string, shape: number[], bytes: Uint8Array }} NumpyArray */

/** An array as .npy. @param {NumpyArray} array */
export function npy({ type, shape, bytes }) {
  const sizes = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': ${sizes}, }`;
  // The data begin at a multiple of 64.
  const padded = `${header.padEnd(64 * Math.ceil((10 + header.length + 1) / 64) - 11)}\n`;
  const file = new Uint8Array(10 + padded.length + bytes.length);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length & 255, padded.length >> 8]);
  file.set(new TextEncoder().encode(padded), 10);
  file.set(bytes, 10 + padded.length);
  return file;
}

/** @param {ArrayBufferView} view */
const bytesOf = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);

/** @param {Float32Array} values @param {number[]} shape @returns {NumpyArray} */
export const float32 = (values, shape) => ({ type: "<f4", shape, bytes: bytesOf(values) });
/** @param {number[]} values @param {number[]} shape @returns {NumpyArray} */
export const int64 = (values, shape) => ({ type: "<i8", shape, bytes: bytesOf(BigInt64Array.from(values, BigInt)) });
/** @param {number[]} values @param {number[]} shape @returns {NumpyArray} */
export const bool = (values, shape) => ({ type: "|b1", shape, bytes: Uint8Array.from(values) });
/** A text, as an array without dimensions. @param {string} text @returns {NumpyArray} */
export function unicode(text) {
  const points = Uint32Array.from(text, (letter) => /** @type {number} */ (letter.codePointAt(0)));
  return { type: `<U${points.length}`, shape: [], bytes: bytesOf(points) };
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? rest >>> 1 ^ 0xedb88320 : rest >>> 1;
  return rest;
});
/** @param {Uint8Array} bytes */
const crc32 = (bytes) => ~bytes.reduce((sum, byte) => sum >>> 8 ^ CRC[(sum ^ byte) & 255], -1) >>> 0;

/** Arrays as .npz: a zip whose files are stored. @param {Record<string, NumpyArray>} arrays */
export function npz(arrays) {
  /** @type {Uint8Array[]} */
  const parts = [];
  /** @type {Uint8Array[]} */
  const central = [];
  let offset = 0;
  for (const [name, array] of Object.entries(arrays)) {
    const [path, file] = [new TextEncoder().encode(`${name}.npy`), npy(array)];
    // The fields from the needed version to the length of the extra field; the date is the first of 1980.
    const fields = [[20, 2], [0, 2], [0, 2], [0, 2], [33, 2], [crc32(file), 4], [file.length, 4], [file.length, 4], [path.length, 2], [0, 2]];
    const local = [...record(0x04034b50, fields), ...path];
    parts.push(Uint8Array.from(local), file);
    central.push(Uint8Array.from([...record(0x02014b50, [[20, 2], ...fields, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]]), ...path]));
    offset += local.length + file.length;
  }
  const size = central.reduce((sum, { length }) => sum + length, 0);
  const end = record(0x06054b50, [[0, 2], [0, 2], [central.length, 2], [central.length, 2], [size, 4], [offset, 4], [0, 2]]);
  return new Blob(/** @type {BlobPart[]} */ ([...parts, ...central, Uint8Array.from(end)]), { type: "application/octet-stream" });
}

/** Little-endian numbers after a signature. @param {number} signature @param {number[][]} fields values and their sizes in bytes */
const record = (signature, fields) => [[signature, 4], ...fields].flatMap(([value, size]) => Array.from({ length: size }, (_, byte) => Math.floor(value / 256 ** byte) % 256));
