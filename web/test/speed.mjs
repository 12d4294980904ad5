// How long a tick of the learned lane and an evaluation of a search take in this engine: node speed.mjs ENGINE.wasm[.gz] [PROBLEM…]
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Engine, LEARNED, UNCONTROLLED } from "../../crates/cinoc-cli/page/engine.js";

const [file, ...names] = process.argv.slice(2);
const packed = readFileSync(file);
const module = new WebAssembly.Module(file.endsWith(".gz") ? gunzipSync(packed) : packed);
for (const name of names.length ? names : ["heat1d", "heat2d", "ks2d", "turbulence2d"]) {
  const model = readFileSync(new URL(`../../crates/cinoc/models/${name}.safetensors`, import.meta.url));
  const engine = await Engine.open(module, new Uint8Array(model));
  const fields = new Float32Array(2 * engine.nodes).map((_, i) => (i < engine.nodes ? Math.sin(i / 9) * Math.cos(i / 450) : 0));
  engine.begin(fields, engine.facts.agents);
  const best = (lane) => {
    let least = Infinity;
    for (let round = 0; round < 12; round++) {
      const since = performance.now();
      for (let k = 0; k < 20; k++) engine.call("step", lane);
      least = Math.min(least, (performance.now() - since) / 20);
    }
    return least.toFixed(3);
  };
  console.log(`${name}: ${best(LEARNED)} ms per learned tick, ${best(UNCONTROLLED)} ms per uncontrolled tick`);
}
