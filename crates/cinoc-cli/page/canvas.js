/** Makes a canvas as sharp as the screen; returns its context, with lengths in CSS pixels, and its size. */
export function sharpen(canvas) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 2);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

/** The font of all drawings. */
export function font(size) {
  return `${size}px "DejaVu Sans", Verdana, system-ui, sans-serif`;
}

/** Radius of the dot of an agent in a picture so many pixels wide: the more there are, the smaller. */
export function dotRadius(width, agents) {
  return Math.max(2, (width / 55) * (10 / Math.max(agents, 10)) ** 0.3);
}

/** Draws an agent: a dot, or a hollow grey ring if it is dead. */
export function drawAgent(context, palette, x, y, radius, alive) {
  const disc = (r, colour) => {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fill();
  };
  disc(radius + 0.25 * Math.min(radius, 4) + 0.4, "rgb(255 255 255 / 0.85)");
  disc(radius, `rgb(${(alive ? palette.black : palette.dead).join(" ")})`);
  if (!alive) disc(0.6 * radius, "white");
}

/** Draws where the keyboard's pointer is. */
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
