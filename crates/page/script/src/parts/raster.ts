// SVG as pixels.

// Browsers refuse canvases of more pixels than this on a side.
const MOST_PIXELS = 8000;

export async function pngOf({ svg, width, height }: { svg: string; width: number; height: number }): Promise<Blob> {
  const image = new Image(width, height);
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  const share = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const canvas = Object.assign(document.createElement("canvas"), {
    width: Math.ceil(width * share),
    height: Math.ceil(height * share),
  });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("the browser cannot make a PNG of this size"))),
      "image/png",
    ),
  );
}
