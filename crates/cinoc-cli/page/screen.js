import { LEARNED, NOBODY, PLANNED } from "./engine.js";
import { Curves, colourBar } from "./curves.js";
import { Hand } from "./hand.js";
import { LineView } from "./line.js";
import { Panel } from "./panel.js";
import { PlaneView } from "./plane.js";
import { Search } from "./search.js";
import { beside, short } from "./number.js";
import { ink } from "./colour.js";

/** Milliseconds of a frame that ticks may take; what is not done by then is left out. */
const BUDGET = 22;

const element = (id) => document.getElementById(id);
const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const lane = (name) => document.querySelector(`.lane[data-lane="${name}"]`);

/** What is on the screen: pictures of the lanes, curves, and the loop that keeps them going. */
export class Screen {
  constructor(play, { module, model }) {
    [this.play, this.facts, this.palette] = [play, play.facts, play.data.facts.palette];
    this.colours = [this.palette.controlled, this.palette.uncontrolled, this.palette.planned].map((colour) => ink(colour));
    this.playing = false;
    [this.rate, this.owed, this.last, this.frames, this.spent] = [30, 0, 0, [], 0];
    this.hand = new Hand(play);
    const View = play.dimensions === 2 ? PlaneView : LineView;
    for (const number of [LEARNED, NOBODY, PLANNED]) {
      lane(number).classList.toggle("line", play.dimensions === 1);
      const canvas = lane(number).querySelector("canvas");
      canvas.setAttribute("aria-label", lane(number).querySelector("b").textContent);
      const view = new View(canvas, this.facts, this.palette);
      this.hand.watch(view, number);
      play.views[number] = view;
    }
    if (play.dimensions === 2 && this.facts.target) {
      this.targetView = new PlaneView(lane("target").querySelector("canvas"), this.facts, this.palette);
      this.targetView.bare = true;
      this.hand.watch(this.targetView, LEARNED);
      lane("target").hidden = false;
    }
    this.errors = new Curves(element("error"), this.facts.axis, true, this.palette);
    this.efforts = new Curves(element("effort"), "mean |u|", false, this.palette);
    this.search = new Search(this, module, model);
    this.panel = new Panel(this);
    new ResizeObserver(() => { play.stale = true; }).observe(document.body);
    play.anew();
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
  }

  /** As many ticks as are due, or as there is time for. */
  advance(seconds) {
    this.owed = Math.min(this.owed + seconds * this.rate, 8);
    const since = performance.now();
    let made = 0;
    while (this.owed >= 1 && performance.now() - since < BUDGET) {
      this.play.step();
      [this.owed, made] = [this.owed - 1, made + 1];
    }
    if (made > 0) this.spent = 0.9 * this.spent + 0.1 * ((performance.now() - since) / made);
  }

  /** Frames per second, over the last two. */
  fps() {
    const { frames } = this;
    return frames.length > 1 ? (1000 * (frames.length - 1)) / (frames.at(-1) - frames[0]) : 0;
  }

  /** Pictures first, words after them: a browser that is asked for sizes in between would lay out the page each time. */
  draw() {
    const { play, facts } = this;
    play.stale = false;
    const shown = [LEARNED, NOBODY, PLANNED].filter((number) => play.shown[number]);
    for (const number of [LEARNED, NOBODY, PLANNED]) lane(number).hidden = !play.shown[number];
    element("lanes").classList.toggle("few", shown.length + (this.targetView ? 1 : 0) < 3);
    for (const number of shown) {
      const scene = play.scene(number);
      const cursor = this.hand.cursor?.lane === number ? this.hand.cursor.at : null;
      const discs = number === NOBODY ? null : scene.discs;
      play.views[number].draw({ ...scene, discs, cursor, target: facts.target ? play.target : null, colour: this.colours[number] }, play.scale);
    }
    this.targetView?.draw({ field: play.target, target: play.target }, play.scale);
    colourBar(element("bar"), play.scale, this.palette);
    this.drawCurves();
    this.search.draw();
    this.write(shown);
  }

  write(shown) {
    const { play } = this;
    for (const number of shown) {
      const { diverged, error } = play.scene(number);
      const value = diverged ? "diverged" : `${this.word()} ${short(error)}`;
      put(lane(number).querySelector("output"), play.visible(number) ? value : "");
    }
    const { strength } = play.scene(LEARNED);
    const dead = strength.filter((s) => s === 0).length;
    const living = strength.length - dead;
    const agents = `${living} agent${living === 1 ? "" : "s"}${dead ? ` alive, ${dead} dead` : ""}`;
    put(lane(LEARNED).querySelector(".note"), `${agents}, each seeing what is near it`);
    put(element("clock"), `t = ${this.time()}`);
    put(lane(NOBODY).querySelector(".note"), "the field left to itself");
    put(lane(PLANNED).querySelector(".note"), this.search.note());
    put(lane("target").querySelector(".note"), "its contours are the lines in the other pictures");
    put(element("pace"), `${Math.round(this.fps())} frames per second · ${this.spent.toFixed(1)} ms per tick of all lanes · engine: WebAssembly, one thread`);
  }

  /** What the mean square is called, in a word. */
  word() {
    return this.facts.title.split(" ")[0];
  }

  time() {
    return beside(this.play.ticks * this.facts.tick, (this.facts.ticks * this.facts.tick) / 100);
  }

  drawCurves() {
    const { play, facts } = this;
    const span = Math.max(facts.ticks, 2);
    const first = Math.max(0, play.ticks - span);
    const lines = (what) => [NOBODY, LEARNED, PLANNED].filter((number) => play.shown[number]).map((number) => {
      const history = play.histories[number];
      const skip = Math.max(0, first - history.from);
      return { colour: this.colours[number], values: history[what].slice(skip), from: history.from + skip };
    });
    this.errors.draw(lines("error"), first, span, facts.tick);
    this.efforts.draw(lines("effort").filter(({ colour }) => colour !== this.colours[NOBODY]), first, span, facts.tick);
  }
}
