import { LEARNED, UNCONTROLLED, PLANNED } from "./engine.js";
import { reachOf } from "./agent.js";
import { Scale } from "./colour.js";
import { marks } from "./solid.js";

/** Ticks that curves keep. */
const MEMORY = 4000;
/** Ticks of a trail. */
const TRAIL = 24;
/** What is left of the scale of pushes and speeds from tick to tick, and its least share of the actuators' limits. */
const FADE = 0.985;
const LEAST = 0.004;

/** The lanes as the page shows them: steps them, keeps their curves, and applies what a visitor does. */
export class Play {
  constructor(engine, data, palette) {
    [this.engine, this.data, this.facts, this.palette] = [engine, data, engine.facts, palette];
    this.dimensions = this.facts.nodes.length;
    /** Of a problem file: names of its fields, ranges of their colours, solid cells, and the use of the target. */
    this.file = data.facts.file;
    this.facts.solid = marks(this.file?.solid ?? []);
    this.follows = this.facts.target && (this.file?.sees_target ?? true);
    this.field = 0;
    this.shown = [true, true, false];
    this.number = 0;
    this.agents = data.facts.agents;
    this.views = [];
    this.begin(0);
  }

  /** Begins with one of the starts that came with the page. */
  begin(number) {
    const { engine, data } = this;
    this.number = number;
    const each = data.starts.length / data.facts.starts;
    const fields = data.starts.slice(number * each, (number + 1) * each);
    engine.begin(fields, this.agents);
    const ranges = this.file?.ranges.map((range) => new Scale(this.palette, ...range));
    this.scales = ranges ?? [Scale.covering(this.palette, [fields.subarray(0, engine.nodes)], fields.subarray(engine.nodes))];
    this.givePlan();
    this.clear();
  }

  /** A plan that came with the page is for the number of agents that it was made with. */
  givePlan() {
    const { plan } = this.data.facts;
    const each = plan ? plan.ticks * plan.agents * this.facts.width : 0;
    const actions = this.data.plans.slice(this.number * each, (this.number + 1) * each);
    if (!plan || plan.agents !== this.agents || actions.length !== each) return;
    this.engine.give(actions);
    this.engine.attempt("set_plan");
  }

  /** The colours of the field that is shown. */
  get scale() {
    return this.scales[this.field];
  }

  /** True if there is a target to see: a uniform one that no agent follows is a number of the file. */
  showsTarget() {
    return this.facts.target && (this.follows || this.target.some((z) => z !== this.target[0]));
  }

  /** Shows another field. */
  choose(field) {
    this.field = field;
    this.views.forEach((view) => view.forget?.());
    this.look();
  }

  restart() {
    this.engine.call("restart");
    this.clear();
  }

  /** Empties curves and trails. */
  clear() {
    this.ticks = 0;
    this.histories = [0, 1, 2].map(() => ({ from: 0, error: [], effort: [] }));
    this.trails = [[], [], []];
    this.reaches = [0, 1, 2].map(() => ({ push: 0, speed: 0 }));
    this.views.forEach((view) => view.forget?.());
    this.look();
    this.record();
  }

  /** Takes the colours of another scheme. */
  recolour() {
    this.scales.forEach((scale) => scale.colour(this.palette));
    this.views.forEach((view) => view.forget?.());
    this.stale = true;
  }

  /** Returns true if a lane has something to show. */
  visible(lane) {
    return this.shown[lane] && (lane !== PLANNED || this.engine.call("planned") > 0);
  }

  /** Advances all lanes that are shown by one tick. */
  step() {
    for (const lane of [LEARNED, UNCONTROLLED, PLANNED]) {
      if (this.visible(lane) && !this.engine.call("ended", lane)) this.engine.call("step", lane);
    }
    this.ticks += 1;
    this.look();
    this.record();
  }

  /** Reads the present state of the lanes. */
  look() {
    const { engine } = this;
    const part = (state, number) => state.subarray(number * engine.nodes, (number + 1) * engine.nodes);
    this.target = part(engine.numbers("target"), 0);
    const [discs, blind] = [triples(engine.numbers("discs")), engine.numbers("blind")];
    this.scenes = [LEARNED, UNCONTROLLED, PLANNED].map((lane) => ({
      field: part(engine.numbers("field", lane), this.field),
      positions: lane === UNCONTROLLED ? null : engine.numbers("positions", lane),
      strength: engine.numbers("strength", lane),
      ages: engine.numbers("ages", lane),
      blind,
      action: lane === UNCONTROLLED ? null : engine.numbers("action", lane),
      trail: this.trails[lane],
      reach: this.reaches[lane],
      error: engine.call("error", lane),
      effort: lane === UNCONTROLLED ? 0 : engine.call("effort", lane),
      diverged: engine.call("diverged", lane) === 1,
      ended: engine.call("ended", lane) === 1,
      discs,
    }));
    this.undisturbed = engine.call("undisturbed") === 1;
    this.stale = true;
  }

  record() {
    this.scenes.forEach((scene, lane) => {
      const history = this.histories[lane];
      if (!this.visible(lane) || (scene.ended && history.error.length > 0)) return;
      if (history.error.length === 0) history.from = this.ticks;
      history.error.push(scene.diverged ? NaN : scene.error);
      history.effort.push(this.ticks === 0 ? NaN : scene.effort);
      if (history.error.length > MEMORY) {
        [history.error, history.effort] = [history.error.slice(MEMORY / 2), history.effort.slice(MEMORY / 2)];
        history.from += MEMORY / 2;
      }
      this.follow(scene, lane);
      this.views[lane]?.remember?.(scene, this.scale);
    });
  }

  /** Continues trails of agents that move, and the scales of pushes and speeds. */
  follow({ positions, action }, lane) {
    if (!positions) return;
    const [trail, reach, now] = [this.trails[lane], this.reaches[lane], reachOf(this.facts, action)];
    if (this.facts.moves) trail.push(positions);
    if (trail.length > TRAIL) trail.shift();
    const { limits } = this.facts;
    reach.push = Math.max(FADE * reach.push, now.push, LEAST * limits[0]);
    reach.speed = Math.max(FADE * reach.speed, now.speed, LEAST * limits.at(-1));
  }

  scene(lane) {
    return this.scenes[lane];
  }

  /** The last point of a curve is the present one, also after a visitor has interfered. */
  changed() {
    this.look();
    this.scenes.forEach((scene, lane) => {
      const { error } = this.histories[lane];
      if (this.visible(lane) && !scene.ended && error.length > 0) error[error.length - 1] = scene.error;
    });
  }

  toggle(agent) {
    const active = this.scenes[LEARNED].strength[agent] > 0;
    this.engine.call("set_alive", agent, active ? 0 : 1);
    this.changed();
  }

  toggleSensors(agent) {
    this.engine.call("set_sensors", agent, this.scenes[LEARNED].blind[agent]);
    this.changed();
  }

  place(agent, [x, y]) {
    this.engine.call("place", agent, x, y ?? 0);
    this.trails.forEach((trail) => trail.splice(0));
    this.changed();
  }

  /** Moves a disc; where it cannot be, it stays. */
  moveDisc(disc, [x, y]) {
    try {
      this.engine.attempt("move_disc", disc, x, y);
      this.say?.("");
    } catch (error) {
      this.say?.("Discs must stay inside the walls and apart from each other.");
    }
    this.changed();
  }

  /** Adds a bump. */
  paint(tool, [x, y], width, amount) {
    this.engine.call(tool === "target" ? "paint_target" : "disturb", x, y, width, amount);
    this.changed();
  }

  /** Continues a stroke along some points, towards a level. */
  stroke(tool, points, width, level) {
    for (const [x, y] of points) this.engine.call(tool === "target" ? "stroke_target" : "stroke_field", x, y, width, level);
    this.changed();
  }

  /** Begins another stroke. */
  lift() {
    this.engine.call("lift");
  }

  clearTarget() {
    this.engine.call("clear_target");
    this.changed();
  }

  setAgents(agents) {
    this.engine.attempt("set_agents", agents);
    this.agents = agents;
    this.trails.forEach((trail) => trail.splice(0));
    this.changed();
  }

  /** Shows or hides a lane; one that is shown again begins together with the others. */
  show(lane, yes) {
    this.shown[lane] = yes;
    if (yes) this.restart();
    this.stale = true;
  }

  /** All lanes begin with the state of the learned one. */
  mark() {
    this.engine.call("mark", LEARNED);
    this.clear();
  }

  plan(actions) {
    this.engine.give(actions);
    this.engine.attempt("set_plan");
    this.restart();
  }
}

function triples(numbers) {
  return Array.from({ length: numbers.length / 3 }, (_, k) => Array.from(numbers.slice(3 * k, 3 * k + 3)));
}
