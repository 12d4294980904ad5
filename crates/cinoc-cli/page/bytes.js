/** Bytes that were packed (gzip, base64) into an element of the page. */
export async function unpack(id) {
  const text = atob(document.getElementById(id).textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  if (packed.length === 0) return packed;
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The same as numbers. */
export async function unpackNumbers(id) {
  return new Float32Array((await unpack(id)).buffer);
}
