// The film at the top of README: agents of heat2d fail, the field is disturbed, and the others repair it: node film.mjs PAGES OUT.gif
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DESKTOP, launch, open } from "./browser.mjs";

/** Ticks from frame to frame, and hundredths of a second that each is shown. */
const EACH = 3;
const SHOWN = 9;
/** Ticks of the film; at some of them agents fail, and during some a disturbance is painted. */
const LAST = 228;
const FAILURES = { 45: [5, 6], 48: [9, 10], 51: [1, 14] };
const STROKE = { from: 105, to: 117, points: [[0.18, 0.2], [0.32, 0.4], [0.46, 0.52], [0.62, 0.66], [0.8, 0.8]], width: 0.09 };
const NOTES = [[45, 72, "6 of 16 agents fail"], [105, 123, "a disturbance"], [123, 160, "the other 10 repair it"]];

const [folder, out] = process.argv.slice(2);
const browser = await launch();
const { page, close } = await open(browser, join(folder, "heat2d.html"), DESKTOP);
const text = await page.evaluate(async ({ each, shown, last, failures, stroke, notes }) => {
  const { play, screen } = cinoc;
  screen.film.begin();
  for (let tick = 0; tick <= last; tick += each) {
    for (const agent of failures[tick] ?? []) play.toggle(agent);
    const drawn = (tick - stroke.from) / (stroke.to - stroke.from);
    if (drawn === 0) play.lift();
    if (drawn >= 0 && drawn <= 1) {
      const [at, part] = [Math.min(stroke.points.length - 2, Math.floor(drawn * (stroke.points.length - 1))), 8];
      const [a, b] = [stroke.points[at], stroke.points[at + 1]];
      const piece = Array.from({ length: part + 1 }, (_, k) => a.map((x, c) => x + ((b[c] - x) * k) / part));
      play.stroke("disturb", piece, stroke.width, -0.8 * play.scale.high);
    }
    screen.film.note = notes.find(([from, to]) => tick >= from && tick < to)?.[2];
    screen.film.add(tick === last ? 180 : tick === 0 ? 60 : shown);
    for (let k = 0; k < each; k++) play.step();
  }
  const bytes = new Uint8Array(await screen.film.gif.blob().arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}, { each: EACH, shown: SHOWN, last: LAST, failures: FAILURES, stroke: STROKE, notes: NOTES });
const bytes = Buffer.from(text, "base64");
writeFileSync(out, bytes);
console.log(`${out}: ${bytes.length} bytes`);
await close();
await browser.close();
