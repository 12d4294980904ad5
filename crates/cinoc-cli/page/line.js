import { sharpen, sizeOf, font, drawCursor } from "./canvas.js";
import { dotRadius, drawAgent, isBlind, pushOf, pushShare, velocityOf } from "./agent.js";
import { evenTicks } from "./number.js";
import { ink, pushColour } from "./colour.js";

/** Pixels and ticks of the past, which moves down from the present curve. */
const PAST = { width: 320, rows: 150 };
const LEFT = 40;
const RIGHT = 8;
/** Share of the height that the present curve takes. */
const NOW = 0.58;
/** Length of the bar of the largest push as a share of that height. */
const PUSH = 0.2;

/** The field of a lane on a line: its curve with target and agents, and below it the past, with the tracks of the agents. */
export class LineView {
  constructor(canvas, facts, palette) {
    [this.canvas, this.facts, this.palette] = [canvas, facts, palette];
    this.past = Object.assign(document.createElement("canvas"), { width: PAST.width, height: PAST.rows });
    this.row = new ImageData(PAST.width, 1);
    canvas.style.aspectRatio = String(this.ratio);
    this.forget();
  }

  /** Width over height. */
  get ratio() {
    return 1.22;
  }

  /** Empties the past. */
  forget() {
    this.past.getContext("2d").clearRect(0, 0, PAST.width, PAST.rows);
  }

  /** Moves the past down by a tick. */
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
    const [w, h] = sizeOf(this.canvas);
    return { left: LEFT, right: w - RIGHT, top: 6, middle: NOW * h, below: NOW * h + 20, bottom: h - 4 };
  }

  /** The range of values that the curve has room for. */
  range() {
    const { low, high } = this.scale;
    if (low === -high) return [1.25 * low, 1.25 * high];
    return [low - (low === 0 ? 0.12 : 0.45) * (high - low), high + 0.25 * (high - low)];
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

  /** The value at which agents are drawn: on the axis. */
  agentHeight() {
    const { low, high } = this.scale;
    return low === -high ? 0 : low - (low === 0 ? 0.06 : 0.1) * (high - low);
  }

  draw(scene, scale) {
    this.scale = scale;
    const { context, width, height } = sharpen(this.canvas);
    context.fillStyle = ink(this.palette.paper);
    context.fillRect(0, 0, width, height);
    this.drawAxes(context);
    this.drawSolid(context);
    if (scene.marked !== undefined && scene.positions) this.drawWindow(context, scene.positions[scene.marked]);
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

  /** Solid cells, as grey bands. */
  drawSolid(context) {
    const { left, right, top, middle } = this.frame();
    const { solid, periodic } = this.facts;
    const each = (right - left) / (periodic ? solid.length : solid.length - 1);
    context.fillStyle = ink(this.palette.missing);
    solid.forEach((mark, i) => {
      const [from, to] = [i - 0.5, i + 0.5].map((at) => Math.round(Math.max(left, Math.min(right, left + at * each))));
      if (mark) context.fillRect(from, top, to - from, middle - top);
    });
  }

  /** Agents on the axis, each with a bar for its push and an arrow for its velocity. */
  drawAgents(context, scene) {
    const { positions, strength, action, reach, marked } = scene;
    const radius = 0.66 * dotRadius(sizeOf(this.canvas)[0], positions.length);
    const { top, middle } = this.frame();
    positions.forEach((x, k) => {
      const at = this.toScreen([x, this.agentHeight()]);
      const share = pushShare(pushOf(this.facts, action, k) ?? 0, reach);
      const active = strength[k] > 0;
      if (active) {
        context.strokeStyle = pushColour(this.palette, Math.sign(share));
        context.lineWidth = Math.max(2, 0.8 * radius);
        context.lineCap = "butt";
        context.beginPath();
        context.moveTo(...at);
        context.lineTo(at[0], at[1] - share * PUSH * (middle - top));
        context.stroke();
      }
      const velocity = positions.length <= 12 ? velocityOf(this.facts, action, k) : null;
      drawAgent(context, this.palette, at, radius, { active, blind: isBlind(scene, k), share, velocity, reach, marked: k === marked });
    });
  }

  /** What an agent observes, as a band with its samples; on a ring around the ends. */
  drawWindow(context, x) {
    const { window: view, lengths, periodic } = this.facts;
    if (!view) return;
    const { left, right, top, middle } = this.frame();
    const unit = (right - left) / lengths[0];
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, middle - top);
    context.clip();
    for (const shift of periodic ? [-1, 0, 1] : [0]) {
      const from = left + (x + shift * lengths[0] - view.width / 2) * unit;
      context.fillStyle = ink(this.palette.window, 0.2);
      context.fillRect(from, top, view.width * unit, middle - top);
      context.fillStyle = ink(this.palette.window);
      for (let i = 0; i < view.points; i++) context.fillRect(from + (view.width * unit * i) / (view.points - 1) - 0.75, middle - 9, 1.5, 9);
    }
    context.restore();
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
