import { LEARNED, UNCONTROLLED, PLANNED } from "./engine.js";
import { sharpen, spare, font } from "./canvas.js";
import { Curves } from "./curves.js";
import { Gif } from "./gif.js";
import { LineView } from "./line.js";
import { PlaneView } from "./plane.js";
import { blend, ink } from "./colour.js";
import { short } from "./number.js";

/** Pixels of a film, of the large picture and of the small ones. */
const WIDTH = 880;
const LARGE = 372;
const SMALL = 152;
const EDGE = 14;
const TOP = 60;
/** The narrowest chart. */
const NARROW = 130;
/** Frames per second of a film that is recorded, and the longest one in seconds. */
const RATE = 10;
const LONGEST = 20;

/** What the page shows as one picture: fields, curves and a headline, for files. */
export class Film {
  constructor(screen) {
    [this.screen, this.play, this.facts, this.palette] = [screen, screen.play, screen.facts, screen.palette];
    const View = this.play.dimensions === 2 ? PlaneView : LineView;
    this.large = new View(spare(1, 1), this.facts, this.palette);
    this.large.canvas.room = [Math.round(LARGE * this.large.ratio), LARGE];
    this.small = new View(spare(Math.round(SMALL * this.large.ratio), SMALL), this.facts, this.palette);
    this.curves = new Curves(spare(1, 1), this.facts.axis, true, this.palette);
    this.efforts = new Curves(spare(1, 1), "mean |u|", false, this.palette);
    this.canvas = Object.assign(spare(WIDTH, TOP + LARGE + EDGE), { read: true });
  }

  /** Draws the present state; `ratio` pixels of the file are one of the drawing. */
  draw(ratio) {
    const { play, palette, screen } = this;
    for (const canvas of [this.canvas, this.large.canvas, this.small.canvas, this.curves.canvas, this.efforts.canvas]) canvas.ratio = ratio;
    const { context, width, height } = sharpen(this.canvas);
    context.fillStyle = ink(palette.paper);
    context.fillRect(0, 0, width, height);
    this.text(context, screen.panel.headline, EDGE, 22, "left", font(16, "600"));
    if (this.note) this.text(context, this.note, WIDTH / 2, 22, "center", font(15, "600"), ink(palette.window));
    this.text(context, `t = ${screen.time()}`, WIDTH - EDGE, 22, "right", font(14));
    const lanes = [LEARNED, UNCONTROLLED, PLANNED].filter((lane) => play.visible(lane));
    const largest = lanes[0] ?? LEARNED;
    let left = EDGE;
    const label = `${screen.label(largest)}${largest === LEARNED ? screen.crew() : ""}`;
    this.picture(context, this.large, screen.sceneOf(largest), label, left, TOP, this.colour(largest));
    left += this.large.canvas.room[0] + 16;
    const beside = left;
    for (const lane of lanes.slice(1)) {
      this.picture(context, this.small, screen.sceneOf(lane), screen.label(lane), left, TOP, this.colour(lane));
      left += this.small.canvas.room[0] + 12;
    }
    if (screen.targetView) {
      this.picture(context, this.small, { field: play.target, target: play.target }, "target", left, TOP);
      left += this.small.canvas.room[0] + 12;
    }
    if (WIDTH - EDGE - left > NARROW) {
      this.efforts.canvas.room = [WIDTH - EDGE - left, SMALL + 4];
      screen.drawEfforts(this.efforts);
      this.text(context, "control effort", left, TOP - 8, "left", font(12.5));
      context.drawImage(this.efforts.canvas, left, TOP - 4, ...this.efforts.canvas.room);
    }
    const top = TOP + SMALL + 34;
    this.curves.canvas.room = [WIDTH - EDGE - beside, TOP + LARGE - top + 4];
    screen.drawErrors(this.curves);
    this.text(context, this.facts.title, beside, top - 8, "left", font(12.5));
    context.drawImage(this.curves.canvas, beside, top, ...this.curves.canvas.room);
    return this.canvas;
  }

  colour(lane) {
    return this.screen.colours[lane];
  }

  picture(context, view, scene, label, left, top, colour) {
    const { play } = this;
    const [width, height] = view.canvas.room;
    // The past of a line is that of the page.
    const past = play.views.find((known) => known && known.lane === scene.lane)?.past;
    if (past && view.past) view.past = past;
    view.draw({ ...scene, colour: colour ?? ink(this.palette.black), cursor: null }, label === "target" ? play.scales[0] : play.scale);
    context.drawImage(view.canvas, left, top, width, height);
    if (play.dimensions === 2) {
      context.strokeStyle = ink(this.palette.axis);
      context.lineWidth = 1;
      context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    }
    const value = scene.error === undefined ? "" : scene.diverged ? ": diverged" : view === this.large ? `: ${this.screen.word()} ${short(scene.error)}` : "";
    this.text(context, `${label}${value}`, left, top - 8, "left", font(12.5), colour);
  }

  text(context, text, x, y, align, style, colour) {
    [context.font, context.textAlign, context.textBaseline] = [style, align, "alphabetic"];
    context.fillStyle = colour ?? ink(this.palette.black);
    context.fillText(text, x, y);
  }

  /** The colours of a film: those of the field, and of all lines and texts as they blend into the paper. */
  colours() {
    const { palette, play } = this;
    const ramp = (from, to, count) => Array.from({ length: count }, (_, k) => blend([from, to], k / Math.max(1, count - 1)));
    const field = Array.from({ length: 150 }, (_, k) => blend(play.scale.stops, k / 149));
    return [
      ...ramp(palette.paper, palette.black, 20), ...field,
      ...[palette.controlled, palette.uncontrolled, palette.planned, palette.window].flatMap((colour) => ramp(palette.paper, colour, 8).slice(1)),
      ...ramp(palette.rest, palette.up, 10).slice(1), ...ramp(palette.rest, palette.down, 10).slice(1),
      ...ramp(palette.black, palette.up, 6).slice(1, -1), ...ramp(palette.black, palette.down, 6).slice(1, -1),
      palette.axis, palette.missing, palette.dead,
    ];
  }

  /** An empty film of what the page shows. */
  begin() {
    const canvas = this.draw(1);
    this.gif = new Gif(canvas.width, canvas.height, this.colours());
  }

  /** Adds the present state to the film. */
  add(hundredths) {
    const canvas = this.draw(1);
    this.gif.frame(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, hundredths);
  }

  get recording() {
    return Boolean(this.since);
  }

  /** Begins to record. */
  record() {
    this.begin();
    this.since = this.due = performance.now();
  }

  /** Adds a frame if one is due; a film that is too long is saved. */
  tick(now) {
    if (!this.recording || now < this.due) return;
    this.due = Math.max(this.due + 1000 / RATE, now);
    this.add(100 / RATE);
    if (now - this.since > 1000 * LONGEST) this.stop();
  }

  /** Seconds recorded so far. */
  seconds() {
    return (performance.now() - this.since) / 1000;
  }

  /** Ends the film and saves it. */
  stop() {
    this.since = null;
    this.save(this.gif.blob(), "gif");
    this.gif = null;
    this.stopped?.();
  }

  /** Saves a picture. */
  savePicture() {
    this.draw(2).toBlob((blob) => this.save(blob, "png"), "image/png");
  }

  save(blob, end) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${this.facts.name}.${end}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }
}
