import { PLANNED } from "./engine.js";
import { REST } from "./agent.js";
import { scheme } from "./colour.js";

/** Ticks per second that can be chosen. */
const RATES = [4, 8, 15, 30, 60, 120, 240, 480];
/** Steps of the number of agents, from a quarter to sixteen times the trained one. */
const STEPS = { first: -4, last: 8, each: Math.SQRT2 };
const ICONS = { play: "M3 1.5v13l11-6.5z", pause: "M3 1.5h3.6v13H3zM9.4 1.5H13v13H9.4z" };

const element = (id) => document.getElementById(id);
const asks = (query) => matchMedia(query).matches;

/** Buttons, sliders and keys. */
export class Panel {
  constructor(screen) {
    [this.screen, this.play, this.hand] = [screen, screen.play, screen.hand];
    this.words();
    this.buttons();
    this.sliders();
    this.keys();
    this.colours(asks("(prefers-color-scheme: dark)"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => this.colours(matches));
    this.recall();
    // A page plays when it is opened, unless its visitor prefers things not to move.
    if (!asks("(prefers-reduced-motion: reduce)")) this.playing(true);
  }

  words() {
    const { facts } = this.play;
    const { version, origin } = this.play.data.facts;
    const { file } = this.play;
    const about = facts.about || facts.name;
    const colon = about.indexOf(": ");
    const [head, rest] = colon > 0 ? [about.slice(0, colon), about.slice(colon + 2)] : [about.replace(/ that .*$/, ""), about];
    this.headline = head;
    element("name").textContent = head;
    element("about").textContent = rest;
    element("error-title").textContent = facts.title;
    const list = element("explanation");
    for (const [word, name] of [["equation", "equation"], ["sees", "observes"], ["acts", "acts"], ["score", "score"]]) {
      list.append(Object.assign(document.createElement("dt"), { textContent: name }));
      list.append(Object.assign(document.createElement("dd"), { textContent: facts.explanation[word] }));
    }
    const plane = this.play.dimensions === 2;
    const pushes = facts.pushes < facts.width || !facts.moves;
    const signs = [
      [pushes, plane ? "dots: agents, red where they push up, blue where they push down" : "bars on the agents: their push"],
      [!pushes, "dots: agents"],
      [facts.moves, pushes ? "arrows: their velocity" : "arrows: where they move and blow"],
      [true, "crossed rings: failed agents"],
      [true, "barred dots: blind agents"],
      [this.play.showsTarget(), plane ? "lines: contours of the target" : "dashed: target"],
      [!plane, "below: the past, with the tracks of the agents"],
      [facts.discs, "hatched: obstacles, can be dragged"],
      [facts.solid.includes(1), "grey: solid"],
    ];
    element("legend").textContent = signs.filter(([shown]) => shown).map(([, word]) => word).join(" · ");
    const from = document.createElement(origin ? "a" : "b");
    from.textContent = `CINOC ${version}`;
    if (origin) from.href = origin;
    element("origin").append(from, ` · controllers for fields, the same network in every agent · made by “cinoc show ${file ? "RUN" : facts.name} -o ${facts.name}.html”`);
    this.play.say = (text) => {
      element("message").textContent = text;
      element("message").hidden = text === "";
    };
  }

  /** What a visitor can do with the present tool, in a line. */
  hint() {
    const { play, hand } = this;
    const click = asks("(hover: none)") ? "tap" : "click";
    const [plane, target] = [play.dimensions === 2, play.follows];
    if (hand.tool === "agents") {
      const hover = asks("(hover: none)") ? "" : " · point at it: what it observes";
      const discs = play.facts.discs ? " or an obstacle" : "";
      return `${click}: fail an agent · drag: move it${discs}${hover} · Disturb${target ? ", Target" : ""}: paint`;
    }
    if (hand.tool === "sensors") return `${click}: switch the sensors of an agent off or on · a blind agent holds its last readings for ${REST} ticks, then it rests`;
    const what = hand.tool === "target" ? "the target" : "a disturbance";
    const fine = hand.tool === "target" && hand.brush() < 0.8 * play.facts.sigma ? ` · agents cannot hold what is finer than their push (σ = ${play.facts.sigma})` : "";
    return plane ? `drag: paint ${what}${fine || " · X: raise or lower"}` : `drag: pull ${hand.tool === "target" ? "the target" : "the field"} to the pointer`;
  }

  buttons() {
    const { play, screen, hand } = this;
    const on = (id, act) => element(id).addEventListener("click", () => { screen.touched = true; act(); });
    on("play", () => this.playing(!screen.playing));
    on("step", () => { this.playing(false); play.step(); });
    on("restart", () => play.restart());
    on("next", () => this.next());
    on("wipe", () => play.clearTarget());
    on("picture", () => screen.film.savePicture());
    on("film", () => this.film());
    on("theme", () => this.colours(!this.dark));
    screen.film.stopped = () => this.tellFilm();
    element("next").hidden = play.data.facts.starts < 2;
    for (const button of document.querySelectorAll("#signs button")) button.addEventListener("click", () => this.sign(Number(button.dataset.sign)));
    const tools = [...document.querySelectorAll("#tools button")];
    for (const button of tools) button.addEventListener("click", () => { screen.touched = true; this.tool(button.dataset.tool); });
    tools.at(-1).hidden = !play.follows;
    tools.at(-2).classList.toggle("last", !play.follows);
    element("width").addEventListener("input", (event) => { hand.width = event.target.value / 100; play.stale = true; });
    for (const box of document.querySelectorAll("#show input")) {
      box.addEventListener("change", () => { screen.touched = true; this.show(Number(box.dataset.show), box.checked); });
    }
    if (play.data.facts.plan) this.show(PLANNED, true);
    this.fields();
    this.tool("agents");
    this.sign(1);
  }

  /** The name of the field, or a choice of several. */
  fields() {
    const names = this.play.file?.fields ?? [];
    const choice = element("fields").querySelector("select");
    choice.append(...names.map((name, k) => new Option(name, k)));
    choice.hidden = names.length < 2;
    element("fields").querySelector("span").textContent = names.length === 1 ? names[0] : "field";
    element("fields").hidden = names.length === 0;
    choice.addEventListener("change", () => { this.screen.touched = true; this.field(Number(choice.value)); });
  }

  sliders() {
    const { play, screen } = this;
    const { agents, fixed } = play.facts;
    this.numbers = [];
    for (let k = STEPS.first; k <= STEPS.last; k++) this.numbers.push(Math.max(1, Math.round(agents * STEPS.each ** k)));
    this.numbers = [...new Set([...this.numbers, play.agents])].sort((a, b) => a - b);
    const slider = element("agents");
    slider.max = this.numbers.length - 1;
    slider.disabled = fixed;
    slider.addEventListener("input", () => { screen.touched = true; this.agents(Number(slider.value)); });
    this.tellAgents();
    const speed = element("speed");
    this.tellSpeed = () => {
      screen.rate = RATES[speed.value];
      element("speed-number").textContent = `${screen.rate} ticks/s`;
      this.share();
    };
    speed.addEventListener("input", this.tellSpeed);
    this.tellSpeed();
  }

  agents(index) {
    if (index < 0 || index >= this.numbers.length || this.play.facts.fixed) return;
    this.play.setAgents(this.numbers[index]);
    this.tellAgents();
    this.share();
  }

  tellAgents() {
    const { play } = this;
    const trained = play.facts.agents;
    element("agents").value = this.numbers.indexOf(play.agents);
    element("agents-number").textContent = play.agents === trained ? `${trained}, as trained` : `${play.agents} (trained: ${trained})`;
    element("agents").setAttribute("aria-valuetext", `${play.agents} agents`);
  }

  playing(yes) {
    this.screen.playing = yes;
    element("play-icon").setAttribute("d", yes ? ICONS.pause : ICONS.play);
    element("play").querySelector("span").textContent = yes ? "Pause" : "Play";
  }

  /** Takes another start. */
  next(number = (this.play.number + 1) % this.play.data.facts.starts) {
    this.play.begin(number);
    element("number").textContent = number + 1;
    if (this.screen.touched) this.share();
  }

  tool(name) {
    if (name === "target" && !this.play.follows) return;
    this.hand.tool = name;
    // Brushes paint on the first field.
    if (this.hand.paints) this.field(0);
    this.hand.point(null);
    for (const button of document.querySelectorAll("#tools button")) button.setAttribute("aria-checked", button.dataset.tool === name);
    element("brush").hidden = !this.hand.paints;
    element("wipe").hidden = name !== "target";
    // On a line the curve is pulled to the pointer, up or down.
    element("signs").hidden = this.play.dimensions === 1;
    this.play.stale = true;
  }

  /** Lets the brush raise (1) or lower (−1). */
  sign(sign) {
    this.hand.sign = sign;
    for (const button of document.querySelectorAll("#signs button")) button.setAttribute("aria-checked", Number(button.dataset.sign) === sign);
  }

  /** Shows a field of a problem file. */
  field(number) {
    if (number === this.play.field) return;
    element("fields").querySelector("select").value = number;
    this.play.choose(number);
    if (number > 0 && this.hand.paints) this.tool("agents");
  }

  show(lane, yes) {
    document.querySelector(`#show input[data-show="${lane}"]`).checked = yes;
    this.play.show(lane, yes);
  }

  /** Light or dark colours. */
  colours(dark) {
    this.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    scheme(this.screen.palette, this.play.data.facts.palette, dark);
    this.play.recolour();
  }

  /** Begins a film, or ends and saves it. */
  film() {
    const { film } = this.screen;
    if (film.recording) film.stop();
    else {
      film.record();
      this.playing(true);
    }
    this.tellFilm();
  }

  tellFilm() {
    const { film } = this.screen;
    element("film").classList.toggle("on", film.recording);
    element("film").textContent = film.recording ? `Save film, ${Math.floor(film.seconds())} s` : "Film";
  }

  /** Keeps number of agents, start and speed in the address, so that it can be passed on. */
  share() {
    if (!this.recalled) return;
    const { agents, number } = this.play;
    const text = `#agents=${agents}&start=${number + 1}&rate=${this.screen.rate}`;
    try {
      history.replaceState(null, "", text);
    } catch {
      // Some browsers let no page that is a file do this.
    }
  }

  /** Takes what the address says. */
  recall() {
    const said = new URLSearchParams(location.hash.slice(1));
    const number = (name) => Number(said.get(name));
    const { play } = this;
    if (RATES.includes(number("rate"))) {
      element("speed").value = RATES.indexOf(number("rate"));
      this.tellSpeed();
    }
    if (number("start") > 1 && number("start") <= play.data.facts.starts) this.next(number("start") - 1);
    if (number("agents") >= 1 && number("agents") !== play.agents && number("agents") <= this.numbers.at(-1)) {
      this.numbers = [...new Set([...this.numbers, Math.round(number("agents"))])].sort((a, b) => a - b);
      element("agents").max = this.numbers.length - 1;
      this.agents(this.numbers.indexOf(Math.round(number("agents"))));
    }
    this.recalled = true;
  }

  keys() {
    const { play, screen } = this;
    const acts = {
      " ": () => this.playing(!screen.playing),
      s: () => { this.playing(false); play.step(); },
      r: () => play.restart(),
      n: () => this.next(),
      a: () => this.tool("agents"),
      b: () => this.tool("sensors"),
      d: () => this.tool("disturb"),
      t: () => this.tool("target"),
      x: () => this.sign(-this.hand.sign),
      p: () => screen.film.savePicture(),
      f: () => this.film(),
      l: () => this.colours(!this.dark),
      "+": () => this.agents(this.numbers.indexOf(play.agents) + 1),
      "=": () => this.agents(this.numbers.indexOf(play.agents) + 1),
      "-": () => this.agents(this.numbers.indexOf(play.agents) - 1),
      1: () => this.show(0, !play.shown[0]),
      2: () => this.show(1, !play.shown[1]),
      3: () => this.show(2, !play.shown[2]),
    };
    document.addEventListener("keydown", (event) => {
      const act = acts[event.key.toLowerCase()];
      // A button that has the focus keeps its space bar.
      const own = event.key === " " && event.target.closest("button, summary, input");
      if (!act || own || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      screen.touched = true;
      act();
    });
  }
}
