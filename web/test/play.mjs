// What a visitor does with a mouse, a finger and a keyboard, and what comes of it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { PHONE, agent, error, launch, open, place, ticks } from "./browser.mjs";

const folder = process.argv[2];
const browser = await launch();
const visit = (name, options) => open(browser, join(folder, `${name}.html`), options);
const strength = (page, number) => page.evaluate((k) => cinoc.play.scene(0).strength[k], number);

async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

/** Holds the brush at a place for a while. */
async function hold(page, at, milliseconds) {
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.waitForTimeout(milliseconds);
  await page.mouse.up();
}

const tests = {
  async "agents are killed, brought back and dragged"() {
    const { page, complaints, close } = await visit("heat2d");
    const at = await agent(page, 5);
    await page.mouse.click(at.x, at.y);
    assert.equal(await strength(page, 5), 0);
    await page.mouse.click(at.x, at.y);
    assert.equal(await strength(page, 5), 1);
    await drag(page, at, await place(page, [0.9, 0.1]));
    const [x, y] = await page.evaluate(() => Array.from(cinoc.play.scene(0).positions.slice(10, 12)));
    assert(Math.hypot(x - 0.9, y - 0.1) < 0.03, `${x}, ${y}`);
    assert.equal(await strength(page, 5), 1, "a drag is no click");
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a painted disturbance is answered"() {
    const { page, complaints, close } = await visit("heat2d");
    await ticks(page, 150);
    const calm = await error(page);
    await page.locator('[data-tool="disturb"]').click();
    await hold(page, await place(page, [0.4, 0.6]), 500);
    const disturbed = await error(page);
    assert(disturbed > 5 * calm, `${calm} became ${disturbed}`);
    await ticks(page, 150);
    const after = await error(page);
    assert(after < 0.05 * disturbed, `${disturbed} fell to ${after}`);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a painted target is reached to within a tenth of its variance"() {
    const { page, complaints, close } = await visit("heat2d");
    await page.locator('[data-tool="target"]').click();
    await page.locator("#wipe").click();
    await hold(page, await place(page, [0.3, 0.35]), 300);
    await page.locator("#sign").click();
    await hold(page, await place(page, [0.7, 0.65]), 250);
    const variance = await page.evaluate(() => {
      const target = cinoc.play.target;
      const mean = target.reduce((a, b) => a + b, 0) / target.length;
      return target.reduce((a, b) => a + (b - mean) ** 2, 0) / target.length;
    });
    await ticks(page, 300);
    const reached = await error(page);
    console.log(`  ${(100 * reached / variance).toFixed(1)} % of its variance are left`);
    assert(variance > 1e-3 && reached < 0.1 * variance, `${reached} of a variance of ${variance}`);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "on a line the curve of the target is pulled"() {
    const { page, complaints, close } = await visit("heat1d");
    await page.locator('[data-tool="target"]').click();
    const before = await page.evaluate(() => Array.from(cinoc.play.target));
    await drag(page, await place(page, [0.3, 0.5]), await place(page, [0.35, 1.2]));
    const after = await page.evaluate(() => Array.from(cinoc.play.target));
    assert(after.some((z, i) => Math.abs(z - before[i]) > 0.1));
    await ticks(page, 250);
    assert(await error(page) < 0.05);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "obstacles are dragged"() {
    const { page, complaints, close } = await visit("heat2d_obstacles");
    const [x, y] = await page.evaluate(() => cinoc.play.scene(0).discs[0]);
    await ticks(page, 20);
    await drag(page, await place(page, [x, y]), await place(page, [0.42, 0.6]));
    const moved = await page.evaluate(() => cinoc.play.scene(0).discs[0]);
    assert(Math.hypot(moved[0] - 0.42, moved[1] - 0.6) < 0.03, `${moved}`);
    await ticks(page, 60);
    const gap = await page.evaluate(() => {
      const { positions, discs } = cinoc.play.scene(0);
      let least = Infinity;
      for (let k = 0; k < positions.length; k += 2) {
        for (const [cx, cy, r] of discs) least = Math.min(least, Math.hypot(positions[k] - cx, positions[k + 1] - cy) - r);
      }
      return least;
    });
    assert(gap > 0, `an agent is ${-gap} inside a disc`);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a finger kills, paints and drags"() {
    const { page, complaints, close } = await visit("heat2d", PHONE);
    const at = await agent(page, 9);
    await page.touchscreen.tap(at.x, at.y);
    assert.equal(await strength(page, 9), 0);
    await ticks(page, 100);
    await page.locator('[data-tool="disturb"]').tap();
    const before = await error(page);
    const middle = await place(page, [0.5, 0.5]);
    for (let k = 0; k < 3; k++) await page.touchscreen.tap(middle.x, middle.y);
    assert(await error(page) > before);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "everything can be done by keyboard"() {
    const { page, complaints, close } = await visit("heat2d");
    const state = () => page.evaluate(() => ({ playing: cinoc.screen.playing, ticks: cinoc.play.ticks, agents: cinoc.play.agents, number: cinoc.play.number, tool: cinoc.screen.hand.tool }));
    await page.keyboard.press(" ");
    assert((await state()).playing);
    await page.keyboard.press("s");
    const stepped = await state();
    assert(!stepped.playing && stepped.ticks > 0);
    await page.keyboard.press("+");
    assert((await state()).agents > stepped.agents);
    await page.keyboard.press("r");
    assert.equal((await state()).ticks, 0);
    await page.keyboard.press("n");
    assert.equal((await state()).number, 1);
    await page.keyboard.press("d");
    assert.equal((await state()).tool, "disturb");
    await page.locator('.lane[data-lane="0"] canvas').focus();
    const before = await error(page);
    for (const key of ["ArrowRight", "ArrowUp", "Enter", "Enter"]) await page.keyboard.press(key);
    assert.notEqual(await error(page), before);
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    const first = await page.evaluate(() => Array.from(cinoc.play.scene(0).strength));
    for (let k = 0; k < 40 && !(await page.evaluate(() => cinoc.play.scene(0).strength.includes(0))); k++) {
      await page.keyboard.press(k % 8 < 4 ? "ArrowLeft" : "ArrowDown");
      await page.keyboard.press("Enter");
    }
    assert(first.includes(0) || (await page.evaluate(() => cinoc.play.scene(0).strength.includes(0))), "Enter kills who is near the pointer");
    assert.deepEqual(complaints, []);
    await close();
  },

  async "the optimum is searched for beside the page"() {
    const { page, complaints, close } = await visit("heat1d");
    await page.locator('[data-show="2"]').check();
    await page.locator("#search button").click();
    await page.waitForFunction(() => cinoc.engine.call("planned") > 0, null, { timeout: 120000 });
    await page.waitForFunction(() => cinoc.play.scene(2).ended, null, { timeout: 60000 });
    const [learned, planned] = [await error(page, 0), await error(page, 2)];
    assert(planned < learned, `the plan ends with ${planned}, the policy with ${learned}`);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a plan that came with the page is played, until there are other agents"() {
    const { page, complaints, close } = await visit("planned/heat1d");
    assert(await page.locator('.lane[data-lane="2"]').isVisible() && !(await page.locator("#search").isVisible()));
    await ticks(page, 300);
    const [learned, planned] = [await error(page, 0), await error(page, 2)];
    assert(planned < 0.5 * learned, `the plan ends with ${planned}, the policy with ${learned}`);
    await page.locator("#agents").press("End");
    await page.waitForSelector("#search", { state: "visible" });
    assert.deepEqual(complaints, []);
    await close();
  },

  async "turbulence plays at thirty frames per second"() {
    const { page, complaints, close } = await visit("turbulence2d");
    await page.locator("#play").click();
    await page.waitForTimeout(5000);
    const [fps, made] = await page.evaluate(() => [cinoc.screen.fps(), cinoc.play.ticks]);
    console.log(`  ${fps.toFixed(0)} frames per second, ${made} ticks in five seconds`);
    assert(fps >= 30, `${fps} frames per second`);
    assert.deepEqual(complaints, []);
    await close();
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log(`ok: ${name}`);
}
await browser.close();
