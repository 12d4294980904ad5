import { sharpen, font } from "./canvas.js";
import { decadeTicks, evenTicks } from "./number.js";
import { ink } from "./colour.js";

const FRAME = { left: 60, right: 10, top: 8, bottom: 36 };

/** Curves against time, one for each lane. */
export class Curves {
  constructor(canvas, axis, log, palette) {
    [this.canvas, this.axis, this.log, this.palette] = [canvas, axis, log, palette];
  }

  /** Draws `lines`, each `{ colour, values }` with a value per tick from `first` on; the axis has room for `span` ticks of length `tick`, and the tick `scored` is marked. */
  draw(lines, first, span, tick, scored) {
    const { context, width, height } = sharpen(this.canvas);
    const [x0, x1, y0, y1] = [FRAME.left, width - FRAME.right, FRAME.top, height - FRAME.bottom];
    // A score may be negative.
    const log = this.log && !lines.some(({ values }) => values.some((v) => v < 0));
    const [low, high] = this.range(lines, log);
    const place = log ? (v) => Math.log10(v / low) / Math.log10(high / low) : (v) => (v - low) / (high - low);
    const toX = (k) => x0 + ((k - first) / span) * (x1 - x0);
    const toY = (v) => y1 - Math.max(0, Math.min(1, place(Math.max(v, log ? low : -Infinity)))) * (y1 - y0);
    context.fillStyle = ink(this.palette.paper);
    context.fillRect(0, 0, width, height);
    context.strokeStyle = ink(this.palette.axis);
    context.fillStyle = ink(this.palette.black);
    context.lineWidth = 1;
    context.font = font(11);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [value, text] of log ? decadeTicks(low, high, 4) : evenTicks(low, high, y1 - y0 > 110 ? 4 : 3)) {
      const y = Math.floor(toY(value)) + 0.5;
      context.fillText(text, x0 - 7, y);
      rule(context, x0, y, x1, y, 0.2);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const [time, text] of evenTicks(first * tick, (first + span) * tick, Math.max(2, Math.min(5, Math.floor((x1 - x0) / 48))))) {
      const x = Math.floor(toX(time / tick)) + 0.5;
      context.fillText(text, x, y1 + 5);
      rule(context, x, y1, x, y1 + 4, 1);
    }
    context.fillText("time t", (x0 + x1) / 2, y1 + 20);
    context.save();
    context.translate(9, (y0 + y1) / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(this.axis, 0, 0);
    context.restore();
    context.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0 - 1, y1 - y0);
    if (scored > first && scored < first + span) this.mark(context, Math.floor(toX(scored)) + 0.5, y0, y1);
    for (const { colour, values, from } of lines) {
      context.strokeStyle = colour;
      context.lineWidth = 2.4;
      context.lineJoin = "round";
      context.beginPath();
      values.forEach((v, k) => { if (Number.isFinite(v)) context.lineTo(toX(from + k), toY(v)); });
      context.stroke();
    }
  }

  /** Marks the moment of the score. */
  mark(context, x, y0, y1) {
    context.strokeStyle = ink(this.palette.window);
    context.setLineDash([4, 4]);
    rule(context, x, y0, x, y1, 1);
    context.setLineDash([]);
    context.fillStyle = ink(this.palette.window);
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText("scored", x + 4, y0 + 4);
  }

  range(lines, log) {
    const all = lines.flatMap(({ values }) => values.filter((v) => Number.isFinite(v) && (v > 0 || !log)));
    const most = all.reduce((a, b) => Math.max(a, b), 0);
    if (!log) return [1.1 * all.reduce((a, b) => Math.min(a, b), 0), most > 0 ? 1.1 * most : 1];
    if (most === 0) return [0.1, 1];
    const least = Math.max(all.reduce((a, b) => Math.min(a, b), Infinity), most * 1e-10);
    const padding = (most / least) ** 0.06;
    const [low, high] = [least / padding, most * padding];
    return high / low < 100 ? [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))] : [low, high];
  }
}

function rule(context, x0, y0, x1, y1, opacity) {
  context.globalAlpha = opacity;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.globalAlpha = 1;
}

/** The colours of a field and their values, along a strip. */
export function colourBar(canvas, scale, palette) {
  const { context, width, height } = sharpen(canvas);
  context.clearRect(0, 0, width, height);
  const [x0, x1, bar] = [18, width - 18, 12];
  const strip = new ImageData(256, 1);
  const words = new Uint32Array(strip.data.buffer);
  for (let k = 0; k < 256; k++) words[k] = scale.shade(scale.low + (k / 255) * (scale.high - scale.low));
  const picture = Object.assign(document.createElement("canvas"), { width: 256, height: 1 });
  picture.getContext("2d").putImageData(strip, 0, 0);
  context.drawImage(picture, x0, 1, x1 - x0, bar);
  context.strokeStyle = ink(palette.axis);
  context.strokeRect(x0 + 0.5, 1.5, x1 - x0 - 1, bar - 1);
  context.fillStyle = ink(palette.black);
  context.font = font(11);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const [value, text] of evenTicks(scale.low, scale.high, 5)) {
    const x = x0 + ((value - scale.low) / (scale.high - scale.low)) * (x1 - x0);
    rule(context, x, bar, x, bar + 4, 1);
    context.fillText(text, x, bar + 6);
  }
}
