import { sharpen, drawAgent, drawCursor, dotRadius } from "./canvas.js";
import { contours } from "./contour.js";
import { ink } from "./colour.js";

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
    canvas.style.aspectRatio = `${lx} / ${ly}`;
  }

  /** Where something lies on the canvas, in CSS pixels. */
  toScreen([x, y]) {
    const [lx, ly] = this.facts.lengths;
    return [(x / lx) * this.canvas.clientWidth, (1 - y / ly) * this.canvas.clientHeight];
  }

  /** What lies at a place of the canvas. */
  toField([px, py]) {
    const [lx, ly] = this.facts.lengths;
    const within = (share) => Math.max(0, Math.min(1, share));
    return [within(px / this.canvas.clientWidth) * lx, within(1 - py / this.canvas.clientHeight) * ly];
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
  paint(field, scale) {
    const { words, across, up, column } = this;
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
        words[at] = scale.shade(from + (column[across.high[px]] - from) * across.part[px]);
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
    context.lineWidth = Math.max(1, width / 260);
    context.stroke(placed);
  }

  drawAgents(context, width, { positions, strength }) {
    const count = positions.length / 2;
    const radius = dotRadius(width, count);
    // The dead lie below: what lives may have come to their places.
    for (const living of [false, true]) {
      for (let k = 0; k < count; k++) {
        if (strength[k] > 0 !== living) continue;
        const [x, y] = this.toScreen([positions[2 * k], positions[2 * k + 1]]);
        drawAgent(context, this.palette, x, y, radius, living);
      }
    }
  }

  /** A hatched disc. */
  drawDisc(context, [x, y, r]) {
    const [cx, cy] = this.toScreen([x, y]);
    const radius = (r / this.facts.lengths[0]) * this.canvas.clientWidth;
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

/** Between which nodes each pixel lies. */
function weights(pixels, nodes, periodic) {
  const cells = periodic ? nodes : nodes - 1;
  const [low, high, part] = [new Uint16Array(pixels), new Uint16Array(pixels), new Float32Array(pixels)];
  for (let p = 0; p < pixels; p++) {
    const place = ((p + 0.5) / pixels) * cells;
    low[p] = Math.min(Math.floor(place), cells - 1);
    high[p] = (low[p] + 1) % nodes;
    part[p] = place - low[p];
  }
  return { low, high, part };
}
