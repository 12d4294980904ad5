// Pictures of pages for the documentation: node pictures.mjs PAGES OUT [NAME…]
import { join } from "node:path";
import { DESKTOP, agent, launch, open, ticks } from "./browser.mjs";

const [folder, out, ...names] = process.argv.slice(2);
const browser = await launch();
for (const name of names.length ? names : ["heat2d"]) {
  const { page, close } = await open(browser, join(folder, `${name}.html`), DESKTOP);
  await ticks(page, 30);
  for (const k of [2, 5, 11]) {
    const at = await agent(page, k);
    await page.mouse.click(at.x, at.y);
  }
  await ticks(page, 25);
  const at = await agent(page, 9);
  await page.mouse.move(at.x, at.y);
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(out, `page_${name}_desktop.png`) });
  await close();
}
await browser.close();
