/** The console in a Chromium that has seen nothing before, and what a page's own clock says. */
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";

export interface OpenPage {
  readonly context: BrowserContext;
  readonly page: Page;
}

/** A window of a browser that knows nothing of the service; it signs in by itself, as after a reload. */
export async function openSignedIn(browser: Browser, person = "admin"): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(30_000);
  await context.addInitScript((name) => {
    // Other pages than the console's have no use for it.
    if (location.protocol.startsWith("http"))
      sessionStorage.setItem("svc.signed-in", JSON.stringify({ tenant: null, person: name }));
  }, person);
  return { context, page: await context.newPage() };
}

/** Another page of the console, without a reload. */
export const goTo = (page: Page, path: string): Promise<void> =>
  page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, `/console${path}`);

/** Opens a page of the console and waits until it is there with what it shows. */
export async function openPage(page: Page, url: string, path: string, shown: string): Promise<void> {
  await page.goto(`${url}/console${path}`);
  await page.getByRole("main").getByText(shown).first().waitFor();
}

export interface FirstLoad {
  /** From the navigation until the first page is drawn with all that it shows, ms. */
  readonly ms: number;
  /** Addresses of the scripts that were loaded until then. */
  readonly scripts: readonly string[];
}

/** Opens an address with an empty cache. @param usable an expression of the page's: whether it can be worked with */
export async function firstLoad(browser: Browser, address: string, usable: string): Promise<FirstLoad> {
  const { context, page } = await openSignedIn(browser);
  try {
    await page.addInitScript(`(() => {
      const look = () => {
        if (globalThis.usableAt !== undefined || !(${usable})) return;
        globalThis.usableAt = Infinity;
        // Drawn: with the frame after the one in which it came.
        requestAnimationFrame(() => requestAnimationFrame((at) => { globalThis.usableAt = at; }));
      };
      new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
    })()`);
    await page.goto(address);
    await page.waitForFunction(() => Number.isFinite((globalThis as { usableAt?: number }).usableAt));
    return await page.evaluate(() => {
      const ms = (globalThis as unknown as { usableAt: number }).usableAt;
      const loaded = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
      const scripts = loaded
        .filter(({ name, responseEnd }) => /\.js$/.test(new URL(name).pathname) && responseEnd <= ms)
        .map(({ name }) => name);
      const worker = document.querySelector<HTMLMetaElement>('meta[name="events-worker"]')?.content;
      if (worker !== undefined) scripts.push(new URL(worker, document.baseURI).href);
      return { ms, scripts: [...new Set(scripts)] };
    });
  } finally {
    await context.close();
  }
}

/** Of the console's home: navigation and every panel, nothing still loading. */
export const homeIsUsable = `document.querySelector("nav[aria-label=Pages] a") && document.querySelector("main h1")
  && !document.querySelector("main [aria-busy=true]")`;

/** Bytes of files as a server sends them, compressed with gzip. */
export async function gzipBytes(addresses: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    addresses.map(async (address) => {
      const answer = await fetch(address, { headers: { "Accept-Encoding": "gzip" }, decompress: false });
      if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
      return (await answer.arrayBuffer()).byteLength;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

export interface Frames {
  readonly worstMs: number;
  readonly count: number;
  /** Rows that there were at the end. */
  readonly rows: number;
}

/** Scrolls a list from its top to its end, a third of a screen each frame. @param box a selector of what scrolls */
export const scroll = (page: Page, box: string, rows: number): Promise<Frames> =>
  page.evaluate(
    ([selector, wanted]) =>
      new Promise<Frames>((resolve, reject) => {
        const element = document.querySelector(selector);
        if (element === null) throw new Error(`there is no ${selector}`);
        element.scrollTop = 0;
        let [worstMs, count, last] = [0, 0, 0];
        const begun = performance.now();
        const step = (at: number): void => {
          if (last > 0) {
            worstMs = Math.max(worstMs, at - last);
            count += 1;
          }
          last = at;
          const present = Number(element.getAttribute("aria-rowcount") ?? wanted + 1) - 1;
          const isEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
          if (isEnd && present >= wanted) resolve({ worstMs, count, rows: present });
          else if (at - begun > 20_000) reject(new Error(`${present} rows after 20 s`));
          else {
            element.scrollTop += 240;
            requestAnimationFrame(step);
          }
        };
        requestAnimationFrame(step);
      }),
    [box, rows] as const,
  );

/**
 * The same, frame by frame, in time that the page's main thread was at work: the machine may do something else besides.
 * @returns the most of one frame, ms
 */
export async function scrollWork(page: Page, box: string, rows: number): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const worked = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
  };
  let [most, isOver, before] = [0, false, 0];
  while (!isOver) {
    isOver = await page.evaluate(
      ([selector, wanted, isFirst]) =>
        new Promise<boolean>((resolve, reject) => {
          const element = document.querySelector(selector);
          if (element === null) return reject(new Error(`there is no ${selector}`));
          if (isFirst) element.scrollTop = 0;
          else element.scrollTop += 240;
          requestAnimationFrame(() =>
            requestAnimationFrame(() =>
              resolve(
                element.scrollTop + element.clientHeight >= element.scrollHeight - 1 &&
                  Number(element.getAttribute("aria-rowcount")) > wanted,
              ),
            ),
          );
        }),
      [box, rows, before === 0] as const,
    );
    const now = await worked();
    if (before > 0) most = Math.max(most, now - before);
    before = now;
  }
  await session.detach();
  return most;
}

/** Goes to a page and waits until a text stands in it. @returns until it is drawn, ms */
export const shownAfter = (page: Page, path: string, text: string): Promise<number> =>
  page.evaluate(
    ([to, wanted]) =>
      new Promise<number>((resolve) => {
        const begun = performance.now();
        const look = () => {
          if (!document.querySelector("main")?.textContent?.includes(wanted)) return;
          observer.disconnect();
          requestAnimationFrame(() => requestAnimationFrame((at) => resolve(at - begun)));
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, characterData: true });
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
      }),
    [`/console${path}`, text] as const,
  );

/** Bytes of what a page's scripts hold after everything else is thrown away. */
export async function heapBytes(session: CDPSession): Promise<number> {
  for (let round = 0; round < 3; round += 1) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
}
