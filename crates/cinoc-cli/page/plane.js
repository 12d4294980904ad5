import { sharpen, sizeOf, drawCursor } from "./canvas.js";
import { CROWD, dotRadius, drawAgent, isBlind, pushOf, pushShare, velocityOf } from "./agent.js";
import { contours } from "./contour.js";
import { ink } from "./colour.js";
import { border, continued } from "./solid.js";

/** Pixels of a painted field along its longer side, before it is stretched. */
const FINE = 192;

/** The field of a lane in the plane, with its agents, the target's contours and discs. */
export class PlaneView {
  constructor(canvas, facts, palette) {
    [this.canvas, this.facts, this.palette] = [canvas, facts, palette];
    const [lx, ly] = facts.lengths;
    const fine = FINE / Math.max(lx, ly);
    const [w, h] = [lx, ly].map((length) => Math.round(fine * length));
    this.picture = Object.assign(document.createElement("canvas"), { width: w, height: h });
    this.pixels = new ImageData(w, h);
    this.words = new Uint32Array(this.pixels.data.buffer);
    this.across = weights(w, facts.nodes[0], facts.periodic);
    this.up = weights(h, facts.nodes[1], facts.periodic);
    this.column = new Float32Array(facts.nodes[0]);
    this.borders = border(facts.solid, facts.nodes);
    canvas.style.aspectRatio = `${lx} / ${ly}`;
  }

  /** Width over height. */
  get ratio() {
    return this.facts.lengths[0] / this.facts.lengths[1];
  }

  /** The place of a point of the field on the canvas, in CSS pixels. Asking for the size of the canvas takes time: for many points, give it. */
  toScreen([x, y], [width, height] = sizeOf(this.canvas)) {
    const [lx, ly] = this.facts.lengths;
    return [(x / lx) * width, (1 - y / ly) * height];
  }

  /** The point of the field at a place of the canvas. */
  toField([px, py]) {
    const [[lx, ly], [width, height]] = [this.facts.lengths, sizeOf(this.canvas)];
    const within = (share) => Math.max(0, Math.min(1, share));
    return [within(px / width) * lx, within(1 - py / height) * ly];
  }

  draw(scene, scale) {
    const { context, width, height } = sharpen(this.canvas);
    this.paint(scene.field, scale);
    context.imageSmoothingQuality = "high";
    context.drawImage(this.picture, 0, 0, width, height);
    if (scene.target) this.drawTarget(context, width, height, scene.target);
    scene.discs?.forEach((disc) => this.drawDisc(context, disc));
    if (scene.positions) this.drawAgents(context, width, scene);
    if (scene.cursor) drawCursor(context, ...this.toScreen(scene.cursor));
  }

  /** Paints values between the nodes, not colours. */
  paint(values, scale) {
    const { words, across, up, column } = this;
    const { solid } = this.facts;
    const field = continued(values, this.borders);
    const rows = this.facts.nodes[1];
    const [width, height] = [this.picture.width, this.picture.height];
    for (let py = 0; py < height; py++) {
      const j = height - 1 - py;
      const [low, high, part] = [up.low[j], up.high[j], up.part[j]];
      for (let x = 0; x < column.length; x++) {
        const from = field[x * rows + low];
        column[x] = from + (field[x * rows + high] - from) * part;
      }
      for (let px = 0, at = py * width; px < width; px++, at++) {
        const from = column[across.low[px]];
        const cell = across.near[px] * rows + up.near[j];
        words[at] = solid[cell] ? scale.shade(NaN) : scale.shade(from + (column[across.high[px]] - from) * across.part[px]);
      }
    }
    this.picture.getContext("2d").putImageData(this.pixels, 0, 0);
  }

  drawTarget(context, width, height, target) {
    if (this.contoured !== target) [this.contoured, this.lines] = [target, contours(target, this.facts.nodes)];
    const cells = this.facts.nodes.map((n) => (this.facts.periodic ? n : n - 1));
    const placed = new Path2D();
    placed.addPath(this.lines, new DOMMatrix([width / cells[0], 0, 0, -height / cells[1], 0, height]));
    context.strokeStyle = ink(this.palette.black, 0.6);
    context.lineWidth = Math.max(1, width / 300);
    context.stroke(placed);
  }

  drawAgents(context, width, scene) {
    const { positions, strength, action, reach, marked } = scene;
    const count = positions.length / 2;
    const radius = dotRadius(width, count);
    const size = sizeOf(this.canvas);
    const place = (k) => this.toScreen([positions[2 * k], positions[2 * k + 1]], size);
    if (scene.trail?.length > 1 && count <= CROWD) this.drawTrails(context, scene.trail, strength, radius);
    if (marked !== undefined) this.drawWindow(context, [positions[2 * marked], positions[2 * marked + 1]]);
    // Failed agents lie below: active ones may have come to their places.
    for (const active of [false, true]) {
      for (let k = 0; k < count; k++) {
        if (strength[k] > 0 !== active) continue;
        const push = pushOf(this.facts, action, k);
        const share = push === undefined ? undefined : pushShare(push, reach);
        const velocity = count <= CROWD ? velocityOf(this.facts, action, k) : null;
        drawAgent(context, this.palette, place(k), radius, { active, blind: isBlind(scene, k), share, velocity, reach, marked: k === marked });
      }
    }
  }

  /** Where agents have been of late. */
  drawTrails(context, trail, strength, radius) {
    context.lineWidth = Math.max(1, 0.35 * radius);
    context.lineCap = "round";
    const [parts, size] = [3, sizeOf(this.canvas)];
    for (let part = 0; part < parts; part++) {
      const [from, to] = [part, part + 1].map((p) => Math.floor((p / parts) * (trail.length - 1)));
      context.strokeStyle = ink(this.palette.black, 0.16 + 0.2 * part);
      context.beginPath();
      for (let k = 0; k < strength.length; k++) {
        if (strength[k] === 0) continue;
        for (let t = from; t <= to; t++) {
          const at = this.toScreen([trail[t][2 * k], trail[t][2 * k + 1]], size);
          if (t === from) context.moveTo(...at);
          else context.lineTo(...at);
        }
      }
      context.stroke();
    }
  }

  /** What an agent observes, as a square with its samples, and the width of its push, as a circle; on a torus around the edges. */
  drawWindow(context, [x, y]) {
    const { window: view, sigma, lengths, periodic } = this.facts;
    const [width] = sizeOf(this.canvas);
    const unit = width / lengths[0];
    const shifts = periodic ? [-1, 0, 1] : [0];
    for (const i of shifts) {
      for (const j of shifts) {
        const [cx, cy] = this.toScreen([x + i * lengths[0], y + j * lengths[1]]);
        if (view) this.drawSquare(context, cx, cy, view.width * unit, view.points);
        if (sigma) {
          context.strokeStyle = ink(this.palette.window);
          context.lineWidth = 1.6;
          context.setLineDash([5, 4]);
          context.beginPath();
          context.arc(cx, cy, sigma * unit, 0, 2 * Math.PI);
          context.stroke();
          context.setLineDash([]);
        }
      }
    }
  }

  drawSquare(context, cx, cy, size, points) {
    context.fillStyle = ink(this.palette.window, 0.14);
    context.fillRect(cx - size / 2, cy - size / 2, size, size);
    context.strokeStyle = ink(this.palette.window);
    context.lineWidth = 2;
    context.strokeRect(cx - size / 2, cy - size / 2, size, size);
    context.fillStyle = ink(this.palette.window);
    for (let i = 0; i < points; i++) {
      for (let j = 0; j < points; j++) {
        context.beginPath();
        context.arc(cx + size * (i / (points - 1) - 0.5), cy + size * (j / (points - 1) - 0.5), Math.min(1.7, size / 60), 0, 2 * Math.PI);
        context.fill();
      }
    }
  }

  /** A hatched disc. */
  drawDisc(context, [x, y, r]) {
    const [cx, cy] = this.toScreen([x, y]);
    const radius = (r / this.facts.lengths[0]) * sizeOf(this.canvas)[0];
    context.save();
    context.beginPath();
    context.arc(cx, cy, radius, 0, 2 * Math.PI);
    context.fillStyle = ink(this.palette.missing);
    context.fill();
    context.clip();
    context.strokeStyle = ink(this.palette.black, 0.5);
    context.lineWidth = 1;
    context.beginPath();
    for (let away = -2 * radius; away <= 2 * radius; away += 9) {
      context.moveTo(cx + away - radius, cy + radius);
      context.lineTo(cx + away + radius, cy - radius);
    }
    context.stroke();
    context.restore();
    context.strokeStyle = ink(this.palette.black);
    context.lineWidth = 1.6;
    context.beginPath();
    context.arc(cx, cy, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}

/** The nodes that each pixel lies between, and the nearest one. */
function weights(pixels, nodes, periodic) {
  const cells = periodic ? nodes : nodes - 1;
  const [low, high, near] = [0, 1, 2].map(() => new Uint16Array(pixels));
  const part = new Float32Array(pixels);
  for (let p = 0; p < pixels; p++) {
    const place = ((p + 0.5) / pixels) * cells;
    low[p] = Math.min(Math.floor(place), cells - 1);
    high[p] = (low[p] + 1) % nodes;
    part[p] = place - low[p];
    near[p] = part[p] < 0.5 ? low[p] : high[p];
  }
  return { low, high, part, near };
}
