/** Chromium as the system has it, and the console in it. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** Where Debian and others put it. */
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Null: there is no Chromium here, and the tests that need one are skipped. */
export const chromiumPath: string | null = places.find((path) => existsSync(path)) ?? null;

if (chromiumPath === null) console.error("SKIPPED: tests of the console need Chromium (apt-get install chromium)");

export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === null) throw new Error("there is no Chromium");
  return chromium.launch({
    executablePath: chromiumPath,
    args: ["--no-sandbox", "--disable-background-networking"],
  });
}

/** A window of its own: nothing of another is kept in it. What the page complains of is gathered in `complaints`. */
export async function openWindow(
  browser: Browser,
  options: NonNullable<Parameters<Browser["newContext"]>[0]> = {},
): Promise<{ readonly context: BrowserContext; readonly page: Page; readonly complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  // What is awaited in vain is named before the test's own time is up.
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) complaints.push(message.text());
  });
  return { context, page, complaints };
}

/** Signs in as one of the people of the development issuer, by one click. */
export async function signIn(page: Page, url: string, person = "admin", path = "/"): Promise<void> {
  await page.goto(`${url}/console${path}`);
  await page
    .getByRole("button", { name: new RegExp(`^${person}\\b`) })
    .first()
    .click();
  // In small windows it is there, but out of sight.
  await page.locator("nav[aria-label=Pages]").waitFor({ state: "attached" });
}
