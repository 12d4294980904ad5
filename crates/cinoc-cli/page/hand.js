/** Pixels that a pointer may move and still click, and how far from an agent it may be. */
const CLICK = 5;
const REACH = 24;
/** Seconds after which the curve of a line has come to the pointer. */
const PULL = 0.12;
/** Steps of the keyboard's pointer along the domain. */
const STEPS = 32;
/** Distance of two bumps of a stroke, in widths of the brush. */
const SPACING = 0.3;

/** What a visitor's pointer, finger or keyboard does on the pictures of the lanes. */
export class Hand {
  constructor(play) {
    this.play = play;
    this.tool = "agents";
    this.sign = 1;
    /** Width of the brush as a share of the domain. */
    this.width = 0.14;
    this.held = null;
    /** The agent under the pointer, `{ lane, agent }`. */
    this.hover = null;
  }

  /** True if the tool is a brush; the others act on agents. */
  get paints() {
    return this.tool === "disturb" || this.tool === "target";
  }

  /** Listens on the picture of a lane. */
  watch(view, lane) {
    const { canvas } = view;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      // The border belongs to the box.
      return [event.clientX - box.left - canvas.clientLeft, event.clientY - box.top - canvas.clientTop];
    };
    // A click leaves the focus where it is: the pointer of the keyboard is for those who come by keyboard.
    canvas.addEventListener("mousedown", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.cursor = null;
      this.touched?.();
      this.press(view, lane, at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.held) this.drag(at(event));
      else this.over(view, lane, at(event));
    });
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => { this.held = null; });
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("keydown", (event) => this.key(view, lane, event));
    canvas.addEventListener("blur", () => { this.cursor = null; this.play.stale = true; });
  }

  /** Notices the agent under the pointer. */
  over(view, lane, place) {
    const found = this.paints ? null : this.find(view, lane, place);
    view.canvas.style.cursor = this.paints ? "crosshair" : !found ? "default" : this.tool === "agents" ? "grab" : "pointer";
    this.point(found?.agent === undefined ? null : { lane, agent: found.agent });
  }

  point(hover) {
    if (hover?.lane === this.hover?.lane && hover?.agent === this.hover?.agent) return;
    this.hover = hover;
    this.play.stale = true;
  }

  press(view, lane, place) {
    if (!this.paints) {
      const found = this.find(view, lane, place);
      this.held = found && { ...found, view, from: place, moved: false };
      if (found?.agent !== undefined) this.point({ lane, agent: found.agent });
      return;
    }
    this.play.lift();
    this.held = { brush: true, view, lane, at: view.toField(place) };
    if (this.play.dimensions === 2) this.stroke([this.held.at]);
    else this.paint(PULL);
  }

  drag(place) {
    const { held } = this;
    if (held.brush) {
      const to = held.view.toField(place);
      if (this.play.dimensions === 2) this.stroke(between(held.at, to, SPACING * this.brush()));
      held.at = to;
      return;
    }
    held.moved ||= Math.hypot(place[0] - held.from[0], place[1] - held.from[1]) > CLICK;
    if (held.moved && this.tool === "agents") this.move(held, held.view.toField(place));
  }

  release() {
    const { held } = this;
    this.held = null;
    if (held?.agent !== undefined && !held.moved) this.click(held.agent);
  }

  click(agent) {
    if (this.tool === "sensors") this.play.toggleSensors(agent);
    else this.play.toggle(agent);
  }

  move({ agent, disc }, at) {
    if (disc !== undefined) this.play.moveDisc(disc, at);
    else this.play.place(agent, at);
  }

  /** The agent or the disc at a place of a picture. */
  find(view, lane, [x, y]) {
    if (view.bare) return null;
    const { positions, discs } = this.play.scene(lane);
    let found = null;
    let nearest = REACH;
    for (let k = 0; positions && k < positions.length / this.play.dimensions; k++) {
      const [ax, ay] = view.toScreen(this.agentPlace(view, positions, k));
      const away = Math.hypot(ax - x, ay - y);
      if (away < nearest) [nearest, found] = [away, { agent: k }];
    }
    if (found) return found;
    const at = view.toField([x, y]);
    const disc = this.play.facts.discs && this.tool === "agents" ? (discs ?? []).findIndex(([cx, cy, r]) => Math.hypot(cx - at[0], cy - at[1]) < r) : -1;
    return disc >= 0 ? { disc } : null;
  }

  agentPlace(view, positions, k) {
    return this.play.dimensions === 2 ? [positions[2 * k], positions[2 * k + 1]] : [positions[k], view.agentHeight()];
  }

  /** Width of the brush in the domain. */
  brush() {
    return this.width * this.play.facts.lengths[0];
  }

  /** Continues a stroke; a disturbance leads to the end of the scale of colours. */
  stroke(points) {
    this.play.stroke(this.tool, points, this.brush(), this.sign > 0 ? this.play.scale.high : this.play.scale.low || -this.play.scale.high);
  }

  /** On a line, pulls the curve to the pointer for some seconds. */
  paint(seconds) {
    if (this.held?.brush && this.play.dimensions === 1) this.pull(this.held, seconds);
  }

  pull({ view, lane, at }, seconds) {
    const { play } = this;
    const drawn = this.tool === "target" ? play.target : play.scene(lane).field;
    const amount = (at[1] - view.value(drawn, at[0] / play.facts.lengths[0])) * Math.min(1, seconds / PULL);
    play.paint(this.tool, at, this.brush(), amount);
  }

  /** Arrows move a pointer, Enter clicks, with Shift the arrows drag the nearest agent. */
  key(view, lane, event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const { play } = this;
    if (!(event.key in arrows) && event.key !== "Enter") return;
    event.preventDefault();
    this.touched?.();
    const [low, high] = play.dimensions === 2 ? [0, play.facts.lengths[1]] : view.range();
    this.cursor ??= { lane, at: [play.facts.lengths[0] / 2, (low + high) / 2] };
    const { at } = this.cursor;
    this.cursor.lane = lane;
    const step = [play.facts.lengths[0] / STEPS, (high - low) / STEPS];
    if (event.key in arrows) {
      const found = event.shiftKey && this.tool === "agents" && this.find(view, lane, view.toScreen(at));
      at[0] = Math.max(0, Math.min(play.facts.lengths[0], at[0] + arrows[event.key][0] * step[0]));
      at[1] = Math.max(low, Math.min(high, at[1] + arrows[event.key][1] * step[1]));
      if (found) this.move(found, at);
      const near = this.paints ? null : this.find(view, lane, view.toScreen(at));
      this.point(near?.agent === undefined ? null : { lane, agent: near.agent });
    } else if (!this.paints) {
      const found = this.find(view, lane, view.toScreen(at));
      if (found?.agent !== undefined) this.click(found.agent);
    } else {
      play.lift();
      if (play.dimensions === 2) this.stroke([at]);
      else this.pull({ view, lane, at }, PULL);
    }
    play.stale = true;
  }
}

/** Points from one to another, both but the first included, at most `step` apart. */
function between([x0, y0], [x1, y1], step) {
  const count = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / step));
  return Array.from({ length: count }, (_, k) => [x0 + ((x1 - x0) * (k + 1)) / count, y0 + ((y1 - y0) * (k + 1)) / count]);
}
