/** Pictures of the console: kept of every run of the story, and as those of the guide where they are asked for. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const root = join(import.meta.dir, "../..");
/** With `SCREENSHOTS=1` the pictures of `docs/` are written. */
export const isForDocs = process.env.SCREENSHOTS === "1";
const folder = join(root, isForDocs ? "docs/pictures/console" : ".svc/pictures");

/** What is shown now, as `<name>.webp`. A picture of the guide is one of rest. */
export async function picture(page: Page, name: string): Promise<void> {
  if (isForDocs) {
    for (const toast of await page.locator(".pop button[aria-label=Close]").all()) await toast.click();
    await page.mouse.move(0, 0);
    // What moves comes to rest, and the clock of the page goes on.
    await page.waitForTimeout(1_500);
  }
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 88 });
  await session.detach();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, "base64"));
}
