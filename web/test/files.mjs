// Pages of problem files: they are small, have the scores of the command line, and show their fields: node files.mjs FOLDER
// FOLDER has NAME.html and NAME.json, what `cinoc show --json` says of the same model.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { agent, error, launch, open, ticks } from "./browser.mjs";

const folder = process.argv[2];
const browser = await launch();

/** Part of the episode that the score is the mean of. */
const FILES = {
  allen_cahn: { from: (ticks) => ticks },
  fitzhugh_nagumo: { from: (ticks) => ticks / 2 + 1, fields: 2 },
  floor_plan: { from: (ticks) => ticks, middle: 20 },
  island: { from: (ticks) => ticks / 2 + 1, solid: true },
};

/** The scores of the learned and the uncontrolled lane in an episode. */
function scores(page, from) {
  return page.evaluate((first) => {
    const { play, engine } = cinoc;
    const sums = [0, 0];
    for (let tick = 1; tick <= play.facts.ticks; tick++) {
      play.step();
      if (tick >= first) [0, 1].forEach((lane) => { sums[lane] += engine.call("error", lane) / (play.facts.ticks + 1 - first); });
    }
    return sums;
  }, from);
}

/** Numbers of pixels of the colours in the picture of a lane, in the order of the colours' frequency. */
function colours(page, lane = 0) {
  return page.evaluate((l) => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const { canvas } = cinoc.play.views[l];
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    const missing = ((255 << 24) | (cinoc.play.palette.missing[2] << 16) | (cinoc.play.palette.missing[1] << 8) | cinoc.play.palette.missing[0]) >>> 0;
    done({ kinds: counts.size, solid: (counts.get(missing) ?? 0) / pixels.length });
  }))), lane);
}

for (const [name, { from, fields, middle, solid }] of Object.entries(FILES)) {
  const file = join(folder, `${name}.html`);
  const said = JSON.parse(readFileSync(join(folder, `${name}.json`)));
  const text = readFileSync(file, "utf8");
  // Compressed as a server would send it, without the model.
  const bytes = gzipSync(text.replace(/(<script type="text\/plain" id="model">)[^<]*/, "$1")).length;
  assert(bytes < 1.3e6, `${name} takes ${bytes} bytes`);
  const { page, complaints, milliseconds, close } = await open(browser, file);
  assert(milliseconds < 3000, `${name} takes ${milliseconds} ms to open`);
  const facts = await page.evaluate(() => cinoc.play.facts);
  const since = Date.now();
  const [learned, free] = await scores(page, from(facts.ticks));
  const tick = (Date.now() - since) / facts.ticks;
  for (const [got, wanted] of [[learned, said.score], [free, said.uncontrolled]]) {
    assert(Math.abs(got - wanted) < 1e-3 * wanted, `${name}: ${got} on the page, ${wanted} on the command line`);
  }
  const seen = await colours(page);
  assert(seen.kinds > 100, `${name} has ${seen.kinds} colours`);
  assert(solid ? seen.solid > 0.02 : seen.solid < 0.02, `${name}: ${seen.solid} of the picture is solid`);
  const [low, high] = await page.evaluate(() => [cinoc.play.scale.low, cinoc.play.scale.high]);
  if (middle) assert(Math.abs((low + high) / 2 - middle) < 1e-3, `${name}: colours from ${low} to ${high}`);
  const choice = page.locator("#fields select");
  assert.equal(await choice.isVisible(), Boolean(fields), name);
  if (fields) {
    const before = await page.evaluate(() => Array.from(cinoc.play.scene(0).field));
    await choice.selectOption("1");
    const after = await page.evaluate(() => Array.from(cinoc.play.scene(0).field));
    assert(before.length === after.length && before.some((z, i) => z !== after[i]), `${name}: another field`);
    await page.locator('[data-tool="disturb"]').click();
    assert.equal(await choice.inputValue(), "0", "brushes paint on the first field");
    await page.locator('[data-tool="agents"]').click();
  }
  // Agents fail; their number and the start can be changed.
  const at = await agent(page, 1);
  await page.mouse.click(at.x, at.y);
  await page.waitForFunction(() => /1 failed/.test(document.querySelector('.lane[data-lane="0"] b').textContent));
  await page.locator("#agents").press("End");
  await ticks(page, 3);
  assert(Number.isFinite(await error(page)), `${name} with more agents`);
  await page.locator("#next").click();
  await page.locator("#play").click();
  await page.waitForFunction(() => cinoc.play.ticks > 3);
  assert.deepEqual(complaints, [], name);
  await close();
  console.log(`${name}: ${bytes} bytes, opens in ${milliseconds} ms, ${tick.toFixed(2)} ms per tick of the lanes, score ${learned.toPrecision(3)}, uncontrolled ${free.toPrecision(3)}`);
}
await browser.close();
