/** Pixels that a pointer may move and still click, and how far from an agent it may be. */
const CLICK = 5;
const REACH = 24;
/** Seconds after which a brush that is held has painted as high as the scale of colours. */
const FILL = 0.45;
/** A tap paints at least as long as this. */
const TAP = 0.12;
/** Steps of the keyboard's pointer along the domain. */
const STEPS = 32;

/** What a visitor's pointer, finger or keyboard does on the pictures of the lanes. */
export class Hand {
  constructor(play) {
    this.play = play;
    this.tool = "agents";
    this.sign = 1;
    /** Width of the brush as a share of the domain. */
    this.width = 0.14;
    this.held = null;
  }

  /** Listens on the picture of a lane. */
  watch(view, lane) {
    const { canvas } = view;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.cursor = null;
      this.press(view, lane, at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.held) this.drag(at(event));
      else canvas.style.cursor = this.tool !== "agents" ? "crosshair" : this.find(view, lane, at(event)) ? "grab" : "default";
    });
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => { this.held = null; });
    canvas.addEventListener("keydown", (event) => this.key(view, lane, event));
    canvas.addEventListener("blur", () => { this.cursor = null; this.play.stale = true; });
  }

  press(view, lane, place) {
    if (this.tool === "agents") {
      const found = this.find(view, lane, place);
      this.held = found && { ...found, view, from: place, moved: false };
      return;
    }
    this.held = { brush: true, view, lane, at: view.toField(place) };
    this.paint(TAP);
  }

  drag(place) {
    const { held } = this;
    if (held.brush) {
      held.at = held.view.toField(place);
      return;
    }
    held.moved ||= Math.hypot(place[0] - held.from[0], place[1] - held.from[1]) > CLICK;
    if (held.moved) this.move(held, held.view.toField(place));
  }

  release() {
    const { held } = this;
    this.held = null;
    if (held?.agent !== undefined && !held.moved) this.play.toggle(held.agent);
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
    const disc = this.play.facts.discs ? (discs ?? []).findIndex(([cx, cy, r]) => Math.hypot(cx - at[0], cy - at[1]) < r) : -1;
    return disc >= 0 ? { disc } : null;
  }

  agentPlace(view, positions, k) {
    return this.play.dimensions === 2 ? [positions[2 * k], positions[2 * k + 1]] : [positions[k], view.agentHeight()];
  }

  /** Paints for so many seconds where the brush is held. */
  paint(seconds) {
    if (this.held?.brush) this.dab(this.held, seconds);
  }

  dab({ view, lane, at }, seconds) {
    const { play } = this;
    const width = this.width * play.facts.lengths[0];
    let amount = (this.sign * play.scale.high * seconds) / FILL;
    if (play.dimensions === 1) {
      // On a line the curve is pulled to the pointer.
      const drawn = this.tool === "target" ? play.target : play.scene(lane).field;
      amount = (at[1] - view.value(drawn, at[0] / play.facts.lengths[0])) * Math.min(1, seconds / TAP);
    }
    play.paint(this.tool, at, width, amount);
  }

  /** Arrows move a pointer, Enter does what a click does, with Shift the arrows drag the nearest agent. */
  key(view, lane, event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const { play } = this;
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
    } else if (event.key === "Enter") {
      const found = this.tool === "agents" ? this.find(view, lane, view.toScreen(at)) : null;
      if (found?.agent !== undefined) play.toggle(found.agent);
      if (this.tool !== "agents") this.dab({ view, lane, at }, TAP);
    } else {
      return;
    }
    event.preventDefault();
    play.stale = true;
  }
}
