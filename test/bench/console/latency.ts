/** How soon an event of the node is on the screen, while many happen. */
import type { Browser, Page } from "playwright-core";
import { until } from "../../harness/until.ts";
import type { Feed } from "./feed.ts";
import { goTo, openPage, openSignedIn } from "./page.ts";

/** Three events come with each round of the feed: 50 a second. */
const roundMs = 60;
export const eventsPerSecond = 50;

/** `[what, when]`: a count or an id that was drawn, and the Unix ms at which it was. */
type Drawn = readonly (readonly [string, number])[];

/** Ms from the commit of each event until the timeline of the execution's page had it. */
export async function timelineLatency(browser: Browser, feed: Feed, rounds: number): Promise<number[]> {
  const { context, page } = await openSignedIn(browser);
  try {
    const id = await feed.start();
    await openPage(page, feed.service.url, `/executions/${id}`, " events");
    await page.evaluate(() => {
      const place = [...document.querySelectorAll("main span")].find(({ textContent }) =>
        /^[\d,]+ events$/.test(textContent ?? ""),
      );
      if (place === undefined) throw new Error("the page does not count events");
      const drawn: [string, number][] = [];
      Object.assign(globalThis, { drawn });
      const note = () => {
        const count = (place.textContent ?? "").replace(/\D/g, "");
        requestAnimationFrame(() => drawn.push([count, Date.now()]));
      };
      new MutationObserver(note).observe(place, { subtree: true, childList: true, characterData: true });
    });
    return await untilDrawn(page, feed, id, rounds);
  } finally {
    await context.close();
  }
}

/** The same with a page that only counts what its `EventSource` brings. */
export async function bareLatency(browser: Browser, feed: Feed, rounds: number): Promise<number[]> {
  const { context, page } = await openSignedIn(browser);
  try {
    const id = await feed.start();
    await page.goto(`${feed.service.url}/health/live`);
    await page.evaluate((path) => {
      const drawn: [string, number][] = [];
      Object.assign(globalThis, { drawn });
      new EventSource(path).addEventListener("message", ({ lastEventId }) => {
        document.body.textContent = lastEventId;
        requestAnimationFrame(() => drawn.push([lastEventId, Date.now()]));
      });
    }, `/v1/executions/${id}/stream?verbose=true&token=${feed.service.token}`);
    return await untilDrawn(page, feed, id, rounds);
  } finally {
    await context.close();
  }
}

/** Lets the execution work, and compares what was drawn with what was committed. */
async function untilDrawn(page: Page, feed: Feed, id: string, rounds: number): Promise<number[]> {
  const before = Math.max(...(await feed.times(id)).keys());
  await feed.work(id, rounds, roundMs);
  const times = await feed.times(id);
  const last = Math.max(...times.keys());
  const drawn = await until(
    async () => {
      const found = await page.evaluate(() => (globalThis as unknown as { drawn: [string, number][] }).drawn);
      return found.some(([count]) => Number(count) >= last) && found;
    },
    { what: "the last event to be drawn", everyMs: 50 },
  );
  await feed.cancel(id);
  // What a page draws at first, and the first round's own events, tell of its start.
  return [...times].flatMap(([seq, at]) => (seq <= before + 6 ? [] : [firstWith(drawn, seq) - at]));
}

function firstWith(drawn: Drawn, seq: number): number {
  const found = drawn.find(([count]) => Number(count) >= seq);
  return found?.[1] ?? Number.POSITIVE_INFINITY;
}

/**
 * Ms from the commit of a change of status until the list of executions shows it in the row, while fifty other records a
 * second change.
 */
export async function listLatency(browser: Browser, feed: Feed, changes: number): Promise<number[]> {
  const { context, page } = await openSignedIn(browser);
  try {
    const ids = await feed.executions(changes);
    await openPage(page, feed.service.url, "/", "Home");
    await goTo(page, "/executions");
    await page.locator(`#row-${ids.at(-1)}`).waitFor();
    // The stream of changes tells from the moment on at which it is open.
    await Bun.sleep(1_000);
    const shown = await page.evaluate(() => {
      const drawn: [string, number][] = [];
      Object.assign(globalThis, { drawn });
      const rows = [...document.querySelectorAll("[role=row][id^=row-]")].slice(0, 12);
      const note = () => {
        for (const row of rows) {
          const id = row.id.slice("row-".length);
          if (drawn.some(([known]) => known === id) || !row.textContent?.includes("cancelled")) continue;
          const entry: [string, number] = [id, Number.NaN];
          drawn.push(entry);
          requestAnimationFrame(() => {
            entry[1] = Date.now();
          });
        }
      };
      const grid = document.querySelector("[role=grid]");
      if (grid === null) throw new Error("there is no list");
      new MutationObserver(note).observe(grid, { subtree: true, childList: true, characterData: true });
      return rows.map(({ id }) => id.slice("row-".length));
    });
    // Rows that are seen among others that are not.
    const others = ids.filter((id) => !shown.includes(id));
    const every = Math.floor(others.length / shown.length);
    const order = shown.flatMap((id, at) => [...others.slice(at * every, (at + 1) * every), id]);
    const begun = performance.now();
    for (const [at, id] of order.entries()) {
      await Bun.sleep(Math.max(0, begun + (at * 1_000) / eventsPerSecond - performance.now()));
      await feed.cancel(id);
    }
    const drawn: Drawn = await until(
      async () => {
        const found = await page.evaluate(() => (globalThis as unknown as { drawn: [string, number][] }).drawn);
        return found.length === shown.length && found.every(([, at]) => at > 0) && found;
      },
      { what: "every row to show its end", everyMs: 50 },
    );
    return await Promise.all(drawn.map(async ([id, at]) => at - Math.max(...(await feed.times(id)).values())));
  } finally {
    await context.close();
  }
}
