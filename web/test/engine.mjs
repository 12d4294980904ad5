// The engine that is committed can still do what the page asks of it, with every shipped model: node engine.mjs ENGINE.wasm[.gz]
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Engine, LEARNED, UNCONTROLLED, PLANNED } from "../../crates/cinoc-cli/page/engine.js";

const file = process.argv[2];
const packed = readFileSync(file);
const module = new WebAssembly.Module(file.endsWith(".gz") ? gunzipSync(packed) : packed);

// Every function that the page calls by name is there.
const page = new URL("../../crates/cinoc-cli/page/", import.meta.url);
const scripts = readdirSync(page).filter((name) => name.endsWith(".js")).map((name) => readFileSync(new URL(name, page), "utf8"));
const first = scripts.flatMap((text) => [...text.matchAll(/\b(?:call|attempt|numbers)\(([^,)]*)/g)].map(([, argument]) => argument));
// The first argument, or both of a choice; not the word that a choice compares with.
const called = new Set(first.flatMap((argument) => [...argument.replace(/=== "\w+"/g, "").matchAll(/"(\w+)"/g)].map(([, name]) => name)));
const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
const missing = [...called].filter((name) => !exported.has(name));
assert(called.size > 20 && missing.length === 0, `the engine lacks ${missing}; run web/build and commit it`);

// Every shipped model opens and plays.
const models = new URL("../../crates/cinoc/models/", import.meta.url);
const names = readdirSync(models).filter((name) => name.endsWith(".safetensors"));
assert.equal(names.filter((name) => !name.includes("-sharp")).length, 8);
for (const name of names) {
  const engine = await Engine.open(module, new Uint8Array(readFileSync(new URL(name, models))));
  const { facts, nodes } = engine;
  for (const fact of ["name", "about", "nodes", "lengths", "tick", "ticks", "scored", "agents", "width", "pushes", "limits", "title"]) {
    assert(facts[fact] !== undefined, `${name}: the engine does not tell ${fact}; run web/build and commit it`);
  }
  const rows = facts.nodes[1] ?? 1;
  const wave = (i) => 0.5 + 0.4 * Math.sin((6.2832 * Math.floor(i / rows)) / facts.nodes[0]) * Math.sin((6.2832 * (i % rows) + 1) / rows);
  const fields = new Float32Array(2 * nodes).map((_, i) => (i < nodes ? wave(i) : facts.target ? 0.5 * wave(nodes - 1 - (i - nodes)) : 0));
  engine.begin(fields, facts.agents);
  for (let k = 0; k < 20; k++) [LEARNED, UNCONTROLLED].forEach((lane) => engine.call("step", lane));
  engine.call("set_alive", 0, 0);
  engine.call("lift");
  engine.call("stroke_field", facts.lengths[0] / 2, (facts.lengths[1] ?? 1) / 2, 0.1 * facts.lengths[0], 0.3);
  for (let k = 0; k < 5; k++) engine.call("step", LEARNED);
  for (const lane of [LEARNED, UNCONTROLLED, PLANNED]) assert(Number.isFinite(engine.call("error", lane)), `${name}, lane ${lane}`);
  assert.equal(engine.numbers("action", LEARNED).length, facts.agents * facts.width, name);
  assert(engine.numbers("action", LEARNED).every(Number.isFinite), name);
  // An agent without sensors rests after a while, and acts again with them.
  const acts = () => engine.numbers("action", LEARNED).subarray(facts.width, 2 * facts.width).some((value) => value !== 0);
  engine.call("set_sensors", 1, 0);
  for (let k = 0; k < 12; k++) engine.call("step", LEARNED);
  assert.deepEqual([engine.numbers("blind")[1], engine.numbers("ages", LEARNED)[1], acts()], [1, 12, false], `${name}: agent 2 rests`);
  engine.call("set_sensors", 1, 1);
  engine.call("step", LEARNED);
  assert.deepEqual([engine.numbers("blind")[1], engine.numbers("ages", LEARNED)[1], acts()], [0, 0, true], `${name}: agent 2 acts again`);
}
console.log(`engine: ${called.size} functions, ${names.length} models`);
