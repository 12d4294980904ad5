// Every page of the site: opens fast, is small, plays, takes other numbers of agents, and never complains.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { error, launch, open, ticks } from "./browser.mjs";

const folder = process.argv[2];
const names = readdirSync(folder).filter((name) => name.endsWith(".html") && name !== "index.html").map((name) => name.slice(0, -5));
assert.equal(names.length, 8, `a page for each problem, not ${names}`);
const browser = await launch();

for (const name of names) {
  const file = join(folder, `${name}.html`);
  const text = readFileSync(file, "utf8");
  // Compressed as a server would send it, without the model.
  const bytes = gzipSync(text.replace(/(<script type="text\/plain" id="model">)[^<]*/, "$1")).length;
  assert(bytes < 1e6, `${name} takes ${bytes} bytes`);
  const { page, complaints, milliseconds, close } = await open(browser, file);
  assert(milliseconds < 2000, `${name} takes ${milliseconds} ms to open`);
  const start = await error(page);
  const since = Date.now();
  await ticks(page, 60);
  const tick = (Date.now() - since) / 60;
  const [learned, free] = [await error(page, 0), await error(page, 1)];
  assert(Number.isFinite(learned) && learned < start && learned < free, `${name}: ${start} became ${learned}, without control ${free}`);
  // From a quarter of the agents to many times their number, by the slider.
  const slider = page.locator("#agents");
  const counts = [];
  for (const key of ["Home", "End"]) {
    await slider.press(key);
    counts.push(await page.evaluate(() => cinoc.play.agents));
    await ticks(page, 3);
    assert(Number.isFinite(await error(page)), `${name} with ${counts} agents`);
  }
  const trained = await page.evaluate(() => cinoc.play.facts.agents);
  assert(counts[0] <= Math.ceil(trained / 4) && counts[1] >= 8 * trained, `${name}: from ${counts}, trained with ${trained}`);
  await page.locator("#next").click();
  await page.locator("#play").click();
  await page.waitForFunction(() => cinoc.play.ticks > 5);
  assert.deepEqual(complaints, [], name);
  await close();
  console.log(`${name}: ${bytes} bytes, opens in ${milliseconds} ms, ${tick.toFixed(2)} ms per tick of the lanes, error ${start.toPrecision(2)} → ${learned.toPrecision(2)}`);
}
await browser.close();
