// Pictures of pages as people see them, for the documentation and for our own eyes: node pictures.mjs PAGES OUT [NAME…]
import { join } from "node:path";
import { DESKTOP, PHONE, agent, launch, open, ticks } from "./browser.mjs";

const [folder, out, ...names] = process.argv.slice(2);
const browser = await launch();
for (const name of names.length ? names : ["heat2d", "turbulence2d"]) {
  for (const [kind, options] of [["desktop", DESKTOP], ["phone", { ...PHONE, deviceScaleFactor: 1 }]]) {
    const { page, close } = await open(browser, join(folder, `${name}.html`), options);
    await page.locator('[data-show="2"]').check();
    await page.locator("#search button").click();
    await page.waitForFunction(() => cinoc.engine.call("planned") > 0, null, { timeout: 600000 });
    await page.evaluate(() => cinoc.screen.panel.playing(false));
    await page.locator("#restart").click();
    await ticks(page, 40);
    for (const k of [2, 5]) {
      const at = await agent(page, k);
      await page.mouse.click(at.x, at.y);
    }
    await ticks(page, 30);
    await page.waitForTimeout(300);
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: join(out, `page_${name}_${kind}.png`), fullPage: kind === "desktop" });
    await close();
  }
}
await browser.close();
