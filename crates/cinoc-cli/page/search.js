import { PLANNED } from "./engine.js";
import { searchBeside } from "./optimum.js";
import { beside, short } from "./number.js";

/** Iterations of a search on a line and in the plane, where each takes longer. */
const ITERATIONS = [200, 60];

/** The lane of the optimum: a plan that came with the page, or one that is searched for from where the learned lane is. */
export class Search {
  constructor(screen, module, model) {
    [this.screen, this.play, this.module, this.model] = [screen, screen.play, module, model];
    const box = document.getElementById("search");
    [this.box, this.text, this.bar, this.button] = [box, box.querySelector("p"), box.querySelector("progress"), box.querySelector("button")];
    this.button.addEventListener("click", () => (this.running ? this.stop() : this.begin()));
    this.again = document.getElementById("again");
    this.again.addEventListener("click", () => this.begin());
  }

  /** Everybody waits where the learned lane is, and a worker searches from there. */
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
    // A plan that is over, or that does not know what happened, can be made anew.
    this.again.hidden = !there || Boolean(this.running) || (play.undisturbed && !play.scene(PLANNED).ended);
    if (this.running) {
      const { share, policy, best } = this.progress;
      this.bar.value = share;
      this.text.textContent = best ? `Searching: ${short(best)} so far, learned ${short(policy)}` : "Searching…";
      this.button.textContent = "Stop";
    } else {
      this.text.textContent = "No plan for what is here now.";
      this.button.textContent = "Search from here";
    }
  }

  note() {
    const { play } = this;
    const planned = play.engine.call("planned");
    if (planned === 0) return "the best actions, with everything known beforehand";
    const scene = play.scene(PLANNED);
    const end = beside(planned * play.facts.tick, (play.facts.ticks * play.facts.tick) / 100);
    if (!play.undisturbed) return "open loop: this plan was made before you interfered and does not know of it";
    if (scene.ended) return `the plan ends at t = ${end}, the moment of the score`;
    return `a plan with everything known, up to t = ${end}; open loop: it does not look`;
  }
}
