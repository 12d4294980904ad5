import { PLANNED } from "./engine.js";

/** Ticks per second that can be chosen. */
const RATES = [4, 8, 15, 30, 60, 120, 240, 480];
/** Steps of the number of agents, from a quarter to sixteen times the trained one. */
const STEPS = { first: -4, last: 8, each: Math.SQRT2 };
const ICONS = { play: "M3 1.5v13l11-6.5z", pause: "M3 1.5h3.6v13H3zM9.4 1.5H13v13H9.4z" };

const element = (id) => document.getElementById(id);

/** Buttons, sliders and keys. */
export class Panel {
  constructor(screen) {
    [this.screen, this.play, this.hand] = [screen, screen.play, screen.hand];
    this.words();
    this.buttons();
    this.sliders();
    this.keys();
  }

  words() {
    const { facts } = this.play;
    element("name").textContent = facts.name;
    element("about").textContent = facts.about;
    element("error-title").textContent = facts.title;
    const list = element("explanation");
    for (const word of ["equation", "sees", "acts", "score"]) {
      list.append(Object.assign(document.createElement("dt"), { textContent: word }));
      list.append(Object.assign(document.createElement("dd"), { textContent: facts.explanation[word] }));
    }
    const plane = this.play.dimensions === 2;
    const signs = [
      [true, "dots: agents"],
      [true, "grey rings: dead agents"],
      [facts.target, plane ? "lines: contours of the target" : "dashed: target"],
      [!plane, "below: what has been, with the tracks of the agents"],
      [facts.discs, "hatched: obstacles, to be dragged"],
    ];
    element("signs").textContent = signs.filter(([shown]) => shown).map(([, word]) => word).join(" · ");
    this.play.say = (text) => {
      element("message").textContent = text;
      element("message").hidden = text === "";
    };
  }

  buttons() {
    const { play, screen, hand } = this;
    const on = (id, act) => element(id).addEventListener("click", act);
    on("play", () => this.playing(!screen.playing));
    on("step", () => { this.playing(false); play.step(); });
    on("restart", () => play.restart());
    on("next", () => this.next());
    on("sign", () => this.flip());
    on("wipe", () => play.clearTarget());
    element("next").hidden = play.data.facts.starts < 2;
    const tools = [...document.querySelectorAll("#tools button")];
    for (const button of tools) button.addEventListener("click", () => this.tool(button.dataset.tool));
    tools[2].hidden = !play.facts.target;
    tools[1].classList.toggle("last", !play.facts.target);
    element("width").addEventListener("input", (event) => { hand.width = event.target.value / 100; });
    for (const box of document.querySelectorAll("#show input")) {
      box.addEventListener("change", () => this.show(Number(box.dataset.show), box.checked));
    }
    if (play.data.facts.plan) this.show(PLANNED, true);
    this.tool("agents");
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
    slider.addEventListener("input", () => this.agents(Number(slider.value)));
    this.tellAgents();
    const speed = element("speed");
    const tell = () => {
      screen.rate = RATES[speed.value];
      element("speed-number").textContent = `${screen.rate} ticks/s`;
    };
    speed.addEventListener("input", tell);
    tell();
  }

  agents(index) {
    if (index < 0 || index >= this.numbers.length || this.play.facts.fixed) return;
    this.play.setAgents(this.numbers[index]);
    this.tellAgents();
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

  next() {
    this.play.begin((this.play.number + 1) % this.play.data.facts.starts);
    element("number").textContent = this.play.number + 1;
  }

  tool(name) {
    if (name === "target" && !this.play.facts.target) return;
    this.hand.tool = name;
    for (const button of document.querySelectorAll("#tools button")) button.setAttribute("aria-checked", button.dataset.tool === name);
    element("brush").hidden = name === "agents";
    element("wipe").hidden = name !== "target";
    // On a line the curve is pulled to the pointer, wherever that is.
    element("sign").hidden = this.play.dimensions === 1;
  }

  flip() {
    this.hand.sign = -this.hand.sign;
    element("sign").textContent = this.hand.sign > 0 ? "higher" : "lower";
  }

  show(lane, yes) {
    document.querySelector(`#show input[data-show="${lane}"]`).checked = yes;
    this.play.show(lane, yes);
  }

  keys() {
    const { play, screen } = this;
    const acts = {
      " ": () => this.playing(!screen.playing),
      s: () => { this.playing(false); play.step(); },
      r: () => play.restart(),
      n: () => this.next(),
      a: () => this.tool("agents"),
      d: () => this.tool("disturb"),
      t: () => this.tool("target"),
      x: () => this.flip(),
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
      act();
    });
  }
}
