// Whether the page can compute.

/** Why the page cannot compute, or null. */
export const whyNoEngine = () => {
  if (!document.getElementById("lab")) return "this page holds no engine";
  if (typeof WebAssembly !== "object" || typeof Worker !== "function")
    return "this browser has no WebAssembly or no workers";
  return null;
};
