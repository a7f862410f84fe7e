/**
 * What the console may cost (docs/guide/console.md). A shared machine is slow at times: of several tries, one that
 * nothing disturbed has to hold. `BOUNDS=1` holds those of time as well, on a machine that does nothing else.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { benchCommandLine } from "../bench/console/console.ts";
import { Feed } from "../bench/console/feed.ts";
import { timelineLatency } from "../bench/console/latency.ts";
import {
  firstLoad,
  goTo,
  gzipBytes,
  homeIsUsable,
  openPage,
  openSignedIn,
  scrollWork,
  shownAfter,
} from "../bench/console/page.ts";
import { type BenchService, startBenchService } from "../bench/service.ts";
import { percentile } from "../bench/table.ts";
import { chromiumPath, launchBrowser } from "../harness/browser.ts";
import { freePorts } from "../harness/redis/server.ts";
import { scratch } from "../harness/scratch.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

setDefaultTimeout(90_000);

/** A bound is broken when it is passed by more than this. */
const slack = 1.2;
const tries = 6;
const listed = 500;
const isQuiet = process.env.BOUNDS === "1";

let stores: TestStores;
let service: BenchService;
let feed: Feed;
let browser: Browser;

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  beforeAll(async () => {
    stores = await freshStores();
    const [port] = await freePorts(1);
    const env = { SVC_PORT: String(port), SVC_PUBLIC_URL: `http://127.0.0.1:${port}` };
    service = await startBenchService(
      { ...stores, dataDir: scratch("bounds"), stop: stores.dispose },
      stores.schema,
      [],
      env,
    );
    feed = await Feed.open(service, stores.databaseUrl, stores.schema);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await feed?.close();
    await service?.stop();
    await stores?.dispose();
  });

  /** The least of several tries, or the first that holds the bound. */
  async function best(bound: number, attempt: () => Promise<number>): Promise<number> {
    const found: number[] = [];
    do found.push(await attempt());
    while (Math.min(...found) > bound * slack && found.length < tries);
    return Math.min(...found);
  }

  test("the first page works with 250 KiB of scripts, without editor, graph and forms", async () => {
    const { scripts } = await firstLoad(browser, `${service.url}/console/`, homeIsUsable);
    expect(await gzipBytes(scripts)).toBeLessThanOrEqual(250 * 1024);
    expect(scripts.length).toBeGreaterThan(2);
    expect(scripts.filter((name) => /\/(?:editor|merge|canvas|form)-/.test(name))).toEqual([]);
  });

  // Before the others fill the list: an execution that waits for a slot has no event to show.
  test.if(isQuiet)("an event is on the screen within 150 ms, at 50 events a second", async () => {
    const ms = await best(150, async () => percentile(await timelineLatency(browser, feed, 40), 0.99));
    expect(ms).toBeLessThanOrEqual(150 * slack);
  });

  // In time of the page's own thread: another program may hold a frame up.
  test("500 executions scroll without a frame over 50 ms", async () => {
    await feed.executions(listed);
    const { page, context } = await openSignedIn(browser);
    await openPage(page, service.url, "/executions", "shown");
    const worst = await best(50, () => scrollWork(page, "[role=grid]", listed));
    if (process.env.SHOW) console.log(`scrolling: ${worst} ms`);
    expect(worst).toBeLessThanOrEqual(50 * slack);
    await context.close();
  });

  test("10,000 events of an execution are shown within 1.5 s", async () => {
    const id = await feed.longExecution(10_000);
    const { page, context } = await openSignedIn(browser);
    await openPage(page, service.url, "/", "Home");
    const ms = await best(1_500, async () => {
      const took = await shownAfter(page, `/executions/${id}`, "10,000 events");
      await goTo(page, "/");
      await page.getByRole("heading", { name: "Home" }).waitFor();
      return took;
    });
    expect(ms).toBeLessThanOrEqual(1_500 * slack);
    await context.close();
  });

  test.if(isQuiet)("the first page can be used within 1 s, with a cold cache", async () => {
    const ms = await best(1_000, async () => (await firstLoad(browser, `${service.url}/console/`, homeIsUsable)).ms);
    expect(ms).toBeLessThanOrEqual(1_000 * slack);
  });

  test.if(isQuiet)("the compiled command line says what it can within 150 ms", async () => {
    const [row] = await benchCommandLine();
    expect(row?.value).toBeLessThanOrEqual(150 * slack);
  });
});
