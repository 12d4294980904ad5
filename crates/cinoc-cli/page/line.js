import { sharpen, font, drawAgent, drawCursor, dotRadius } from "./canvas.js";
import { evenTicks } from "./number.js";
import { ink } from "./colour.js";

/** Pixels and ticks of what has been, which falls down from the curve of now. */
const PAST = { width: 320, rows: 150 };
const LEFT = 40;
const RIGHT = 8;
/** Share of the height that the curve of now takes. */
const NOW = 0.56;

/** The field of a lane on a line: its curve with target and agents, and below it what has been, with the tracks of the agents. */
export class LineView {
  constructor(canvas, facts, palette) {
    [this.canvas, this.facts, this.palette] = [canvas, facts, palette];
    this.past = Object.assign(document.createElement("canvas"), { width: PAST.width, height: PAST.rows });
    this.row = new ImageData(PAST.width, 1);
    canvas.style.aspectRatio = "4 / 3";
    this.forget();
  }

  /** Begins a new past. */
  forget() {
    this.past.getContext("2d").clearRect(0, 0, PAST.width, PAST.rows);
  }

  /** Lets what has been fall by a tick. */
  remember({ field, positions, strength }, scale) {
    const [words, track] = [new Uint32Array(this.row.data.buffer), this.past.getContext("2d")];
    for (let p = 0; p < PAST.width; p++) words[p] = scale.shade(this.value(field, (p + 0.5) / PAST.width));
    track.globalCompositeOperation = "copy";
    track.drawImage(this.past, 0, 1);
    track.globalCompositeOperation = "source-over";
    track.putImageData(this.row, 0, 0);
    for (let k = 0; k < (positions?.length ?? 0); k++) {
      track.fillStyle = ink(strength[k] > 0 ? this.palette.black : this.palette.dead, strength[k] > 0 ? 0.75 : 0.4);
      track.fillRect((positions[k] / this.facts.lengths[0]) * PAST.width - 0.7, 0, 1.4, 1);
    }
  }

  /** The field at a share of its length. */
  value(field, share) {
    const n = field.length;
    const place = share * (this.facts.periodic ? n : n - 1);
    const low = Math.min(Math.floor(place), n - 1);
    const high = this.facts.periodic ? (low + 1) % n : Math.min(low + 1, n - 1);
    return field[low] + (field[high] - field[low]) * (place - low);
  }

  frame() {
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    return { left: LEFT, right: w - RIGHT, top: 6, middle: NOW * h, below: NOW * h + 20, bottom: h - 4 };
  }

  /** The range of values that the curve has room for. */
  range() {
    return [this.scale.low < 0 ? 1.25 * this.scale.low : -0.12 * this.scale.high, 1.25 * this.scale.high];
  }

  toScreen([x, z]) {
    const { left, right, top, middle } = this.frame();
    const [low, high] = this.range();
    const share = Math.max(-0.02, Math.min(1.02, (z - low) / (high - low)));
    return [left + (x / this.facts.lengths[0]) * (right - left), middle - share * (middle - top)];
  }

  toField([px, py]) {
    const { left, right, top, middle } = this.frame();
    const [low, high] = this.range();
    const within = (share) => Math.max(0, Math.min(1, share));
    return [within((px - left) / (right - left)) * this.facts.lengths[0], low + within((middle - py) / (middle - top)) * (high - low)];
  }

  /** Where the agents lie: on the axis. */
  agentHeight() {
    return this.scale.low < 0 ? 0 : -0.06 * this.scale.high;
  }

  draw(scene, scale) {
    this.scale = scale;
    const { context, width, height } = sharpen(this.canvas);
    context.fillStyle = "white";
    context.fillRect(0, 0, width, height);
    this.drawAxes(context);
    this.curve(context, scene.field, scene.colour, 2.6, []);
    if (scene.target) this.curve(context, scene.target, ink(this.palette.black), 1.4, [6, 5]);
    const { left, right, below, bottom } = this.frame();
    context.imageSmoothingEnabled = true;
    context.drawImage(this.past, left, below, right - left, bottom - below);
    context.strokeStyle = ink(this.palette.axis);
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, Math.floor(below) + 0.5, right - left - 1, Math.floor(bottom - below));
    if (scene.positions) this.drawAgents(context, scene);
    if (scene.cursor) drawCursor(context, ...this.toScreen(scene.cursor));
  }

  drawAgents(context, { positions, strength }) {
    const radius = 0.8 * dotRadius(this.canvas.clientWidth, positions.length);
    positions.forEach((x, k) => {
      const [px, py] = this.toScreen([x, this.agentHeight()]);
      drawAgent(context, this.palette, px, py, radius, strength[k] > 0);
    });
  }

  curve(context, field, colour, width, dash) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    const n = field.length;
    const count = this.facts.periodic ? n + 1 : n;
    for (let i = 0; i < count; i++) context.lineTo(...this.toScreen([(i / (count - 1)) * this.facts.lengths[0], field[i % n]]));
    context.stroke();
    context.setLineDash([]);
  }

  drawAxes(context) {
    const { left, right, top, middle, below, bottom } = this.frame();
    context.strokeStyle = ink(this.palette.axis);
    context.fillStyle = ink(this.palette.black);
    context.lineWidth = 1;
    context.font = font(11);
    context.strokeRect(left + 0.5, top + 0.5, right - left - 1, Math.floor(middle - top));
    context.textBaseline = "middle";
    context.textAlign = "right";
    const [low, high] = this.range();
    for (const [value, text] of evenTicks(low, high, 4)) {
      const y = Math.floor(this.toScreen([0, value])[1]) + 0.5;
      if (y > middle || y < top) continue;
      context.fillText(text, left - 6, y);
      context.globalAlpha = value === 0 ? 0.9 : 0.25;
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(right, y);
      context.stroke();
      context.globalAlpha = 1;
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    for (const [value, text] of evenTicks(0, this.facts.lengths[0], 5)) context.fillText(text, this.toScreen([value, 0])[0], middle + 4);
    context.save();
    context.translate(12, (below + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText("← earlier", 0, 0);
    context.restore();
  }
}
