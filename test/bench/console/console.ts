/** The console in Chromium: what it loads, how soon it can be used, how it scrolls, how soon an event is seen. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../../harness/browser.ts";
import { freePorts } from "../../harness/redis/server.ts";
import { type BenchService, startBenchService } from "../service.ts";
import type { BenchStores } from "../stores.ts";
import { percentile, type Row } from "../table.ts";
import { Feed } from "./feed.ts";
import { bareLatency, eventsPerSecond, listLatency, timelineLatency } from "./latency.ts";
import { heapGrowth } from "./memory.ts";
import { firstLoad, goTo, gzipBytes, homeIsUsable, openPage, openSignedIn, scroll, shownAfter } from "./page.ts";

const loads = 9;
const tries = 5;
const listed = 500;
const events = 10_000;
const rounds = 150;
const warmMs = 30_000;

export async function benchConsole(stores: BenchStores): Promise<Row[]> {
  return withConsole(stores, "console", async (browser, feed) => [
    ...(await benchFirstLoad(browser, feed.service)),
    ...(await benchEvents(browser, feed)),
    ...(await benchScrolling(browser, feed)),
    await benchLongExecution(browser, feed),
    ...(await benchCommandLine()),
  ]);
}

/** `CONSOLE_MINUTES` says for how long; 1.5 when it is absent. */
export async function benchConsoleMemory(stores: BenchStores): Promise<Row[]> {
  const minutes = Number(process.env.CONSOLE_MINUTES ?? 1.5);
  return withConsole(stores, "console_memory", async (browser, feed) => {
    const growth = await heapGrowth(browser, feed, warmMs, minutes * 60_000);
    const row = (name: string, value: number, floor: number): Row => ({
      name,
      unit: "MiB",
      value: value / 2 ** 20,
      floor: floor / 2 ** 20,
      floorIs: `the same page after ${warmMs / 1_000} s of changes`,
      goal: "flat",
      note: `list of executions over ${minutes} min and ${growth.changes.toLocaleString("en-US")} changes, garbage collected`,
    });
    return [
      row("heap of an open console", growth.after, growth.before),
      row("heap of its worker", growth.workerAfter, growth.workerBefore),
    ];
  });
}

/** A node that serves the console, and Chromium. */
async function withConsole(
  stores: BenchStores,
  name: string,
  work: (browser: Browser, feed: Feed) => Promise<Row[]>,
): Promise<Row[]> {
  const [port] = await freePorts(1);
  const service = await startBenchService(stores, name, [], {
    SVC_PORT: String(port),
    SVC_PUBLIC_URL: `http://127.0.0.1:${port}`,
  });
  const feed = await Feed.open(service, stores.databaseUrl, name);
  const browser = await launchBrowser();
  try {
    return await work(browser, feed);
  } finally {
    await browser.close();
    await feed.close();
    await service.stop();
  }
}

async function benchFirstLoad(browser: Browser, { url }: BenchService): Promise<Row[]> {
  const bare = await startBare(0);
  const times: number[] = [];
  const floors: number[] = [];
  let scripts: readonly string[] = [];
  for (let load = 0; load <= loads; load += 1) {
    const console = await firstLoad(browser, `${url}/console/`, homeIsUsable);
    const page = await firstLoad(browser, bare.url, `document.querySelector("main h1")`);
    scripts = console.scripts;
    // The first builds the console and warms the node up.
    if (load > 0) times.push(console.ms);
    if (load > 0) floors.push(page.ms);
  }
  bare.stop();
  return [
    {
      name: "scripts before the first page works",
      unit: "KiB",
      value: (await gzipBytes(scripts)) / 1024,
      floor: 250,
      floorIs: "the bound",
      goal: "<= 250",
      note: `gzip, ${scripts.length} files, the worker's among them`,
    },
    {
      name: "first page usable, p50",
      unit: "ms",
      value: percentile(times, 0.5),
      floor: percentile(floors, 0.5),
      floorIs: "a page whose one script writes a heading",
      goal: "<= 1,000",
      note: `cold cache, signed in and every panel of the home filled; worst of ${loads}: ${Math.round(percentile(times, 1))} ms`,
    },
  ];
}

async function benchEvents(browser: Browser, feed: Feed): Promise<Row[]> {
  // The engines compile for the first rounds.
  await timelineLatency(browser, feed, 40);
  const timeline = await timelineLatency(browser, feed, rounds);
  const bare = await bareLatency(browser, feed, rounds);
  const list = await listLatency(browser, feed, 200);
  const row = (name: string, value: number, floor: number, note: string): Row => ({
    name,
    unit: "ms",
    value,
    floor,
    floorIs: "a page that counts what its EventSource brings",
    goal: "<= 150",
    note: `from the commit to the frame, ${eventsPerSecond} events/s; ${note}`,
  });
  const worst = (samples: number[]) => `worst ${Math.round(percentile(samples, 1))} ms`;
  return [
    row("event → timeline, p50", percentile(timeline, 0.5), percentile(bare, 0.5), worst(timeline)),
    row("event → timeline, p99", percentile(timeline, 0.99), percentile(bare, 0.99), worst(timeline)),
    row("change → row of a list, p99", percentile(list, 0.99), percentile(bare, 0.99), worst(list)),
  ];
}

async function benchScrolling(browser: Browser, feed: Feed): Promise<Row[]> {
  await feed.executions(listed);
  const { context, page } = await openSignedIn(browser);
  await openPage(page, feed.service.url, "/executions", "shown");
  const first = await scroll(page, "[role=grid]", listed);
  const again: number[] = [];
  for (let attempt = 0; attempt < tries; attempt += 1) again.push((await scroll(page, "[role=grid]", listed)).worstMs);
  await context.close();
  const bare = await startBare(listed);
  const other = await openSignedIn(browser);
  await other.page.goto(`${bare.url}list`);
  const floors: number[] = [];
  for (let attempt = 0; attempt < tries; attempt += 1) floors.push((await scroll(other.page, "#list", listed)).worstMs);
  await other.context.close();
  bare.stop();
  const row = (name: string, value: number, note: string): Row => ({
    name,
    unit: "ms",
    value,
    floor: Math.min(...floors),
    floorIs: "as many rows of plain HTML",
    goal: "<= 50",
    note,
  });
  return [
    row("worst frame of 500 executions scrolled, pages fetched", first.worstMs, `${first.count} frames`),
    row(
      "worst frame of 500 executions scrolled",
      Math.min(...again),
      `best of ${tries}; ${again.map(Math.round).join(", ")}`,
    ),
  ];
}

async function benchLongExecution(browser: Browser, feed: Feed): Promise<Row> {
  const id = await feed.longExecution(events);
  const { context, page } = await openSignedIn(browser);
  await openPage(page, feed.service.url, "/", "Home");
  const text = `${events.toLocaleString("en-US")} events`;
  const samples: number[] = [];
  for (let attempt = 0; attempt < tries; attempt += 1) {
    samples.push(await shownAfter(page, `/executions/${id}`, text));
    await goTo(page, "/");
    await page.getByRole("heading", { name: "Home" }).waitFor();
  }
  await context.close();
  const floors: number[] = [];
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const begun = performance.now();
    const answer = await fetch(`${feed.service.url}/v1/executions/${id}/stream?verbose=true`, {
      headers: { Authorization: `Bearer ${feed.service.token}` },
    });
    await answer.text();
    floors.push(performance.now() - begun);
  }
  const first = samples[0] ?? Number.NaN;
  return {
    name: "10,000 events of an execution opened, p50",
    unit: "ms",
    value: percentile(samples, 0.5),
    floor: percentile(floors, 0.5),
    floorIs: "the stream read to its end and thrown away",
    goal: "<= 1,500",
    note: `from the click to the last event's frame; ${Math.round(first)} ms with the page's own scripts`,
  };
}

/** `svc --help`, compiled, beside a compiled program that prints one line. */
export async function benchCommandLine(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-cli-"));
  try {
    const [program, bare] = [join(folder, "svc"), join(folder, "bare")];
    await ran([process.execPath, join(import.meta.dir, "../../../src/programs/svc/build.ts"), "--out", program]);
    await Bun.write(join(folder, "bare.ts"), `console.log("bare")`);
    await ran([process.execPath, "build", "--compile", join(folder, "bare.ts"), "--outfile", bare]);
    const [help, floor] = [await timed([program, "--help"]), await timed([bare])];
    return [
      {
        name: "svc --help, compiled, p50",
        unit: "ms",
        value: percentile(help, 0.5),
        floor: percentile(floor, 0.5),
        floorIs: "a compiled program that prints one line",
        goal: "<= 150",
        note: `of ${help.length}; worst ${Math.round(percentile(help, 1))} ms`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ran(words: string[]): Promise<void> {
  const child = Bun.spawn(words, { stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
}

async function timed(words: string[]): Promise<number[]> {
  const samples: number[] = [];
  for (let attempt = 0; attempt < 21; attempt += 1) {
    const begun = performance.now();
    await ran(words);
    // The first reads the program from the disk.
    if (attempt > 0) samples.push(performance.now() - begun);
  }
  return samples;
}

async function startBare(rows: number): Promise<{ url: string; stop(): void }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../floors/bare-page.ts"), String(rows)], {
    stdout: "pipe",
  });
  const line = await child.stdout.getReader().read();
  const port = new TextDecoder().decode(line.value).trim();
  return { url: `http://127.0.0.1:${port}/`, stop: () => child.kill() };
}
