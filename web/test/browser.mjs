// A headless Chromium, and pages in it that must not complain nor ask for anything.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch() {
  const executablePath = PLACES.find((path) => path && existsSync(path));
  assert(executablePath, "no Chromium here; install it (apt-get install chromium) or name it in $CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
export const LANDSCAPE = { ...PHONE, viewport: { width: 844, height: 390 } };

/** Opens a file, paused unless the options say otherwise; returns the page, the milliseconds it took until it could be played with, and what it complained about. */
export async function open(browser, file, options = DESKTOP, address = "") {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) complaints.push(`asks for ${request.url()}`); });
  const since = Date.now();
  await page.goto(pathToFileURL(file).href + address);
  await page.waitForSelector("body[data-ready]", { timeout: 20000 });
  return { page, complaints, milliseconds: Date.now() - since, close: () => context.close() };
}

/** Makes ticks as fast as the engine can. */
export function ticks(page, count) {
  return page.evaluate((n) => { for (let k = 0; k < n; k++) cinoc.play.step(); }, count);
}

/** The error of a lane. */
export function error(page, lane = 0) {
  return page.evaluate((l) => cinoc.engine.call("error", l), lane);
}

/** The place of a point of the field in the window, in a lane. */
export async function place(page, at, lane = 0) {
  await page.locator(`.lane[data-lane="${lane}"] canvas`).scrollIntoViewIfNeeded();
  return page.evaluate(([l, p]) => {
    const view = cinoc.play.views[l];
    const box = view.canvas.getBoundingClientRect();
    const [x, y] = view.toScreen(p);
    return { x: box.left + view.canvas.clientLeft + x, y: box.top + view.canvas.clientTop + y };
  }, [lane, at]);
}

/** The place of an agent in the window. */
export async function agent(page, number, lane = 0) {
  const at = await page.evaluate(([l, k]) => {
    const view = cinoc.play.views[l];
    return cinoc.screen.hand.agentPlace(view, cinoc.play.scene(l).positions, k).map(Number);
  }, [lane, number]);
  return place(page, at, lane);
}
