import { LEARNED, NOBODY, PLANNED } from "./engine.js";
import { Scale } from "./colour.js";

/** Ticks that curves remember. */
const MEMORY = 4000;

/** The lanes as the page shows them: steps them, remembers their curves, and passes on what a visitor does. */
export class Play {
  constructor(engine, data) {
    [this.engine, this.data, this.facts] = [engine, data, engine.facts];
    this.dimensions = this.facts.nodes.length;
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
    const each = 2 * engine.nodes;
    const fields = data.starts.slice(number * each, (number + 1) * each);
    engine.begin(fields, this.agents);
    this.scale = Scale.covering(data.facts.palette, [fields.subarray(0, engine.nodes)], fields.subarray(engine.nodes));
    this.givePlan();
    this.anew();
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

  restart() {
    this.engine.call("restart");
    this.anew();
  }

  anew() {
    this.ticks = 0;
    this.histories = [0, 1, 2].map(() => ({ from: 0, error: [], effort: [] }));
    this.views.forEach((view) => view.forget?.());
    this.look();
    this.record();
  }

  /** Whether a lane has something to show. */
  visible(lane) {
    return this.shown[lane] && (lane !== PLANNED || this.engine.call("planned") > 0);
  }

  /** One tick of all lanes that are shown. */
  step() {
    for (const lane of [LEARNED, NOBODY, PLANNED]) {
      if (this.visible(lane) && !this.engine.call("ended", lane)) this.engine.call("step", lane);
    }
    this.ticks += 1;
    this.look();
    this.record();
  }

  /** Reads what the lanes look like now. */
  look() {
    const { engine } = this;
    this.target = engine.numbers("target");
    const discs = triples(engine.numbers("discs"));
    this.scenes = [LEARNED, NOBODY, PLANNED].map((lane) => ({
      field: engine.numbers("field", lane),
      positions: lane === NOBODY ? null : engine.numbers("positions", lane),
      strength: engine.numbers("strength", lane),
      error: engine.call("error", lane),
      effort: lane === NOBODY ? 0 : engine.call("effort", lane),
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
      this.views[lane]?.remember?.(scene, this.scale);
    });
  }

  scene(lane) {
    return this.scenes[lane];
  }

  /** The last point of a curve is that of now, also after a visitor has interfered. */
  changed() {
    this.look();
    this.scenes.forEach((scene, lane) => {
      const { error } = this.histories[lane];
      if (this.visible(lane) && !scene.ended && error.length > 0) error[error.length - 1] = scene.error;
    });
  }

  toggle(agent) {
    const alive = this.scenes[LEARNED].strength[agent] > 0;
    this.engine.call("set_alive", agent, alive ? 0 : 1);
    this.changed();
  }

  place(agent, [x, y]) {
    this.engine.call("place", agent, x, y ?? 0);
    this.changed();
  }

  /** Puts a disc elsewhere; where it cannot be, it stays. */
  moveDisc(disc, [x, y]) {
    try {
      this.engine.attempt("move_disc", disc, x, y);
      this.say?.("");
    } catch (error) {
      this.say?.("Discs must stay inside the walls and apart from each other.");
    }
    this.changed();
  }

  paint(tool, [x, y], width, amount) {
    this.engine.call(tool === "target" ? "paint_target" : "disturb", x, y, width, amount);
    this.changed();
  }

  clearTarget() {
    this.engine.call("clear_target");
    this.changed();
  }

  setAgents(agents) {
    this.engine.attempt("set_agents", agents);
    this.agents = agents;
    this.changed();
  }

  /** Shows or hides a lane; one that is shown again begins together with the others. */
  show(lane, yes) {
    this.shown[lane] = yes;
    if (yes) this.restart();
    this.stale = true;
  }

  /** All lanes begin where the learned one is. */
  mark() {
    this.engine.call("mark", LEARNED);
    this.anew();
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
