/** Width and height of a canvas in CSS pixels; one outside of the page has them in `room`. */
export function sizeOf(canvas) {
  return canvas.room ?? [canvas.clientWidth, canvas.clientHeight];
}

/** Makes a canvas as sharp as the screen; returns its context, with lengths in CSS pixels, and its size. */
export function sharpen(canvas) {
  const ratio = canvas.ratio ?? Math.min(globalThis.devicePixelRatio || 1, 2);
  const [width, height] = sizeOf(canvas);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d", { willReadFrequently: Boolean(canvas.read) });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

/** A canvas outside of the page. */
export function spare(width, height, ratio = 1) {
  return Object.assign(document.createElement("canvas"), { room: [width, height], ratio });
}

/** The font of all drawings. */
export function font(size, weight = "") {
  return `${weight} ${size}px "DejaVu Sans", Verdana, system-ui, sans-serif`;
}

/** Draws the pointer of the keyboard. */
export function drawCursor(context, x, y) {
  for (const [colour, width] of [["white", 4], ["rgb(213 94 0)", 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, 12, 0, 2 * Math.PI);
    context.moveTo(x - 18, y);
    context.lineTo(x + 18, y);
    context.moveTo(x, y - 18);
    context.lineTo(x, y + 18);
    context.stroke();
  }
}
