import { PLANNED } from "./engine.js";
import { searchBeside } from "./optimum.js";
import { beside, short } from "./number.js";

/** Iterations of a search on a line and in the plane, where each takes longer. */
const ITERATIONS = [200, 60];

/** The lane of the best plan: one that came with the page, or one that is searched for from the state of the learned lane. */
export class Search {
  constructor(screen, module, model) {
    [this.screen, this.play, this.module, this.model] = [screen, screen.play, module, model];
    const box = document.getElementById("search");
    [this.box, this.text, this.bar, this.button] = [box, box.querySelector("p"), box.querySelector("progress"), box.querySelector("button")];
    this.button.addEventListener("click", () => (this.running ? this.stop() : this.begin()));
    this.line = document.getElementById("plan");
    this.again = document.getElementById("again");
    this.again.addEventListener("click", () => this.begin());
  }

  /** Pauses all lanes at the state of the learned one, and searches from there. */
  begin() {
    const { play, screen } = this;
    screen.panel.playing(false);
    play.mark();
    this.progress = { share: 0 };
    this.running = searchBeside(this.module, this.model, play.engine.beginning(), ITERATIONS[play.dimensions - 1], (progress) => {
      this.progress = progress;
      play.stale = true;
    });
    this.running.found.then((actions) => {
      this.running = null;
      play.plan(actions);
      screen.panel.playing(true);
    }, (error) => {
      this.running = null;
      play.say(`The search failed: ${error.message}`);
      play.stale = true;
    });
    play.stale = true;
  }

  stop() {
    this.running.stop();
    this.running = null;
    this.play.stale = true;
  }

  draw() {
    const { play } = this;
    const there = play.engine.call("planned") > 0;
    this.box.hidden = !play.shown[PLANNED] || (there && !this.running);
    this.bar.hidden = !this.running;
    // A plan that has ended, or that was made before a visitor interfered, can be made again.
    this.again.hidden = !there || Boolean(this.running) || (play.undisturbed && !play.scene(PLANNED).ended);
    this.line.hidden = !play.shown[PLANNED];
    this.line.querySelector("span").textContent = this.note();
    if (this.running) {
      const { share, policy, best } = this.progress;
      this.bar.value = share;
      this.text.textContent = best ? `Searching: ${short(best)} so far, learned ${short(policy)}` : "Searching…";
      this.button.textContent = "Stop";
    } else {
      this.text.textContent = "No plan for the present state.";
      this.button.textContent = "Search from here";
    }
  }

  /** The time at which the plan ends, or would. */
  end() {
    const { engine, facts } = this.play;
    return beside((engine.call("planned") || facts.scored) * facts.tick, (facts.ticks * facts.tick) / 100);
  }

  note() {
    const { play } = this;
    if (play.engine.call("planned") === 0) return "Best plan: a search for the best actions, with everything known beforehand.";
    if (!play.undisturbed) return "Best plan: open loop; it was made before you interfered.";
    if (play.scene(PLANNED).ended) return `The plan ends at t = ${this.end()}, the moment of the score.`;
    return `Best plan: everything known beforehand, open loop, for the error at t = ${this.end()} only.`;
  }
}
