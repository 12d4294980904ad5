import { LEARNED, UNCONTROLLED, PLANNED } from "./engine.js";
import { REST, isBlind, pushOf, velocityOf } from "./agent.js";
import { Curves, colourBar } from "./curves.js";
import { Film } from "./film.js";
import { Hand } from "./hand.js";
import { LineView } from "./line.js";
import { Panel } from "./panel.js";
import { PlaneView } from "./plane.js";
import { Search } from "./search.js";
import { beside, short } from "./number.js";
import { ink } from "./colour.js";

/** Milliseconds of a frame that ticks may take; what is not done by then is left out. */
const BUDGET = 22;
/** Episodes after which a page that no visitor has touched takes the next start. */
const EPISODES = 1.15;

const element = (id) => document.getElementById(id);
const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const lane = (name) => document.querySelector(`.lane[data-lane="${name}"]`);

/** What is on the screen: pictures of the lanes, curves, and the loop that draws them. */
export class Screen {
  constructor(play, { module, model }) {
    [this.play, this.facts, this.palette] = [play, play.facts, play.palette];
    this.playing = false;
    this.touched = false;
    [this.rate, this.owed, this.last, this.frames, this.spent] = [30, 0, 0, [], 0];
    this.hand = new Hand(play);
    this.hand.touched = () => { this.touched = true; };
    const View = play.dimensions === 2 ? PlaneView : LineView;
    for (const number of [LEARNED, UNCONTROLLED, PLANNED]) {
      lane(number).classList.toggle("line", play.dimensions === 1);
      const canvas = lane(number).querySelector("canvas");
      canvas.setAttribute("aria-label", lane(number).querySelector("b").textContent);
      const view = Object.assign(new View(canvas, this.facts, this.palette), { lane: number });
      this.hand.watch(view, number);
      play.views[number] = view;
    }
    if (play.dimensions === 2 && play.showsTarget()) {
      this.targetView = new PlaneView(lane("target").querySelector("canvas"), this.facts, this.palette);
      this.targetView.bare = true;
      this.hand.watch(this.targetView, LEARNED);
      lane("target").hidden = false;
    }
    this.errors = new Curves(element("error"), this.facts.axis, true, this.palette);
    this.efforts = new Curves(element("effort"), "mean |u|", false, this.palette);
    this.search = new Search(this, module, model);
    this.film = new Film(this);
    this.panel = new Panel(this);
    new ResizeObserver(() => { play.stale = true; }).observe(document.body);
    play.clear();
  }

  /** Colours of the lanes. */
  get colours() {
    return [this.palette.controlled, this.palette.uncontrolled, this.palette.planned].map((colour) => ink(colour));
  }

  start() {
    const frame = (now) => {
      this.frame(now);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  frame(now) {
    const { play } = this;
    const seconds = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    this.frames.push(now);
    while (this.frames[0] < now - 2000) this.frames.shift();
    this.hand.paint(seconds);
    if (this.playing) this.advance(seconds);
    if (play.stale) this.draw();
    this.film.tick(now);
    if (this.film.recording) this.panel.tellFilm();
  }

  /** Makes the ticks that are due, or those that there is time for. */
  advance(seconds) {
    this.owed = Math.min(this.owed + seconds * this.rate, 8);
    const since = performance.now();
    let made = 0;
    while (this.owed >= 1 && performance.now() - since < BUDGET) {
      this.play.step();
      [this.owed, made] = [this.owed - 1, made + 1];
    }
    if (made > 0) this.spent = 0.9 * this.spent + 0.1 * ((performance.now() - since) / made);
    // A page that plays for no one in particular shows its other starts too.
    if (!this.touched && this.play.ticks > EPISODES * this.facts.ticks) this.panel.next();
  }

  /** Frames per second, over the last two. */
  fps() {
    const { frames } = this;
    return frames.length > 1 ? (1000 * (frames.length - 1)) / (frames.at(-1) - frames[0]) : 0;
  }

  /** What is drawn of a lane. */
  sceneOf(number) {
    const { play, facts, hand } = this;
    const scene = play.scene(number);
    const marked = hand.hover?.lane === number ? hand.hover.agent : undefined;
    return { ...scene, lane: number, marked, discs: number === UNCONTROLLED ? null : scene.discs, target: facts.target && play.field === 0 ? play.target : null };
  }

  /** The name of a lane. */
  label(number) {
    return ["learned control", "uncontrolled", `best plan for t = ${this.search.end()}`][number];
  }

  /** Pictures first, words after them: a browser that is asked for sizes in between would lay out the page each time. */
  draw() {
    const { play } = this;
    play.stale = false;
    const shown = [LEARNED, UNCONTROLLED, PLANNED].filter((number) => play.shown[number]);
    for (const number of [LEARNED, UNCONTROLLED, PLANNED]) lane(number).hidden = !play.shown[number];
    const count = shown.filter((number) => number !== LEARNED).length + (this.targetView ? 1 : 0);
    // Beside a wide field of a plane there is no room for three columns.
    const { ratio, facts } = play.views[LEARNED];
    const many = count > 2 || (facts.nodes.length > 1 && ratio > 1.3);
    element("side").style.setProperty("--count", many ? Math.max(count, 2) : count);
    element("side").style.setProperty("--shape", ratio);
    element("side").classList.toggle("many", many);
    for (const number of shown) {
      const cursor = this.hand.cursor?.lane === number ? this.hand.cursor.at : null;
      play.views[number].draw({ ...this.sceneOf(number), cursor, colour: this.colours[number] }, play.scale);
    }
    this.targetView?.draw({ field: play.target, target: play.target }, play.scales[0]);
    colourBar(element("bar"), play.scale, this.palette);
    this.drawErrors(this.errors);
    this.drawEfforts(this.efforts);
    this.search.draw();
    this.write(shown);
  }

  write(shown) {
    const { play } = this;
    for (const number of shown) {
      const { diverged, error } = play.scene(number);
      const value = diverged ? "diverged" : number === LEARNED ? `${this.word()} ${short(error)}` : short(error);
      put(lane(number).querySelector("output"), play.visible(number) ? value : "");
      put(lane(number).querySelector("b"), `${this.label(number)}${number === LEARNED ? this.crew() : ""}`);
    }
    put(element("clock"), `t = ${this.time()}`);
    put(element("hint"), this.hint());
    put(element("pace"), `${Math.round(this.fps())} frames per second · ${this.spent.toFixed(1)} ms per tick of all lanes · engine: WebAssembly, one thread`);
  }

  /** The number of agents, of failed ones, and of active ones that are blind. */
  crew() {
    const scene = this.play.scene(LEARNED);
    const { strength } = scene;
    const failed = strength.filter((s) => s === 0).length;
    const blind = strength.filter((s, k) => s > 0 && isBlind(scene, k)).length;
    return `, ${strength.length} agent${strength.length === 1 ? "" : "s"}${failed ? `, ${failed} failed` : ""}${blind ? `, ${blind} blind` : ""}`;
  }

  /** What a visitor can do, or what the agent under the pointer does. */
  hint() {
    const { hand, play, facts } = this;
    if (!hand.hover) return this.panel.hint();
    const { lane: number, agent } = hand.hover;
    const scene = play.scene(number);
    const { strength, action, blind } = scene;
    if (agent >= strength.length) return this.panel.hint();
    const click = hand.tool === "agents" ? (strength[agent] === 0 ? "repair it" : "fail it") : `switch its sensors ${blind[agent] ? "on" : "off"}`;
    if (strength[agent] === 0) return `Agent ${agent + 1} has failed · click: ${click}`;
    if (isBlind(scene, agent)) return `Agent ${agent + 1} ${blindness(scene.ages[agent])} · click: ${click}`;
    const [push, velocity] = [pushOf(facts, action, agent), velocityOf(facts, action, agent)];
    const parts = [push === undefined ? "" : `push ${short(push)}`, velocity ? `speed ${short(Math.hypot(...velocity))}` : ""].filter(Boolean);
    const area = play.dimensions === 2 ? "square" : "band";
    const seen = facts.window ? `${area}: what it observes, ${facts.window.points}${play.dimensions === 2 ? ` × ${facts.window.points}` : ""} samples` : "it observes the whole field";
    const circle = play.dimensions === 2 && facts.sigma ? "; circle: width of its push" : "";
    return `Agent ${agent + 1}: ${parts.join(", ")} · ${seen}${circle} · click: ${click}`;
  }

  /** The name of the mean square in a word. */
  word() {
    return this.facts.title.split(" ")[0];
  }

  time() {
    return beside(this.play.ticks * this.facts.tick, (this.facts.ticks * this.facts.tick) / 100);
  }

  /** The lines of a quantity, and the ticks that they are drawn from and over. */
  lines(what, numbers) {
    const { play, facts } = this;
    const span = Math.max(facts.ticks, 2);
    const first = Math.max(0, play.ticks - span);
    const lines = numbers.filter((number) => play.shown[number]).map((number) => {
      const history = play.histories[number];
      const skip = Math.max(0, first - history.from);
      return { colour: this.colours[number], values: history[what].slice(skip), from: history.from + skip };
    });
    return [lines, first, span, facts.tick];
  }

  drawErrors(curves) {
    const { scored, ticks } = this.facts;
    curves.draw(...this.lines("error", [UNCONTROLLED, LEARNED, PLANNED]), scored < ticks ? scored : -1);
  }

  drawEfforts(curves) {
    curves.draw(...this.lines("effort", [LEARNED, PLANNED]), -1);
  }
}

/** What a blind agent does, by the age of its youngest reading. */
function blindness(age) {
  if (age === 0) return "takes its last readings in the next tick";
  return `has been blind for ${age} tick${age === 1 ? "" : "s"}: it ${age > REST ? "rests" : "holds its last readings"}`;
}
