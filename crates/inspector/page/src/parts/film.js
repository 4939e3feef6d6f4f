// The training as a short film, which the browser records.

import { imageOf } from "./raster.js";

// Social networks and chats play so much at once.
const SECONDS = 4;
const FRAMES_PER_SECOND = 20;
// The last picture stands for a moment, before the film begins again.
const STANDS = 0.8;
const BITS_PER_SECOND = 2_500_000;

const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

/** What this browser can record, or nothing. */
export const filmType = () => typeof MediaRecorder === "undefined" || !("captureStream" in HTMLCanvasElement.prototype) ? undefined : TYPES.find((type) => MediaRecorder.isTypeSupported(type));

/** Records drawings: the browser takes as long as the film. @param {(part: number) => import("./raster.js").Drawing} drawingAt of a part of the training, from 0 to 1 @param {(part: number) => void} told how much of it is recorded @returns {Promise<Blob>} */
export async function filmOf(drawingAt, told) {
  const first = drawingAt(0);
  const canvas = Object.assign(document.createElement("canvas"), { width: first.width, height: first.height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(await imageOf(first), 0, 0);
  const recorder = new MediaRecorder(canvas.captureStream(FRAMES_PER_SECOND), { mimeType: filmType(), videoBitsPerSecond: BITS_PER_SECOND });
  /** @type {Blob[]} */
  const blobs = [];
  const ended = new Promise((resolve, reject) => {
    recorder.ondataavailable = ({ data }) => blobs.push(data);
    recorder.onstop = resolve;
    recorder.onerror = () => reject(new Error("the browser could not record it"));
  });
  recorder.start();
  const began = performance.now();
  for (let part = 0; part < 1;) {
    await new Promise((done) => setTimeout(done, 1000 / FRAMES_PER_SECOND));
    const seconds = (performance.now() - began) / 1000;
    part = Math.min(seconds / SECONDS, 1);
    const place = Math.min(seconds / (SECONDS - STANDS), 1);
    // A picture that stands is drawn again: a canvas that does not change gives no frame.
    context.drawImage(await imageOf(drawingAt(place)), 0, 0);
    told(part);
  }
  recorder.stop();
  await ended;
  for (const track of recorder.stream.getTracks()) track.stop();
  return new Blob(blobs, { type: "video/webm" });
}
