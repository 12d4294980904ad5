import { unpack, unpackNumbers } from "./bytes.js";
import { Engine } from "./engine.js";
import { scheme } from "./colour.js";
import { Play } from "./play.js";
import { Screen } from "./screen.js";
import { search } from "./optimum.js";

/** Puts the page together from what it carries. */
async function open() {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const [wasm, model, starts, plans] = await Promise.all([unpack("engine"), unpack("model"), unpackNumbers("starts"), unpackNumbers("plans")]);
  const module = await WebAssembly.compile(wasm);
  const engine = await Engine.open(module, model);
  const palette = {};
  scheme(palette, facts.palette, false);
  const play = new Play(engine, { facts, starts, plans }, palette);
  const screen = new Screen(play, { module, model });
  screen.start();
  // For tests, and for a look inside.
  globalThis.cinoc = { engine, play, screen };
  document.body.dataset.ready = "yes";
}

if (typeof document === "undefined") {
  // In a worker the same code searches.
  onmessage = ({ data }) => search(data);
} else {
  open().catch((error) => {
    const message = document.getElementById("message");
    message.textContent = `This page could not start: ${error.message} A browser of 2023 or later should show it.`;
    message.hidden = false;
    console.error(error);
  });
}
