/** What an open console holds on to while the tenant's records change and change. */
import type { Browser, CDPSession } from "playwright-core";
import type { Feed } from "./feed.ts";
import { heapBytes, openPage, openSignedIn } from "./page.ts";

/** What was read last replaces what was read before it. */
const settleMs = 3_000;

export interface Growth {
  /** Bytes of the page's heap after it has warmed up, and at the end. */
  readonly before: number;
  readonly after: number;
  /** The same of the worker that holds the streams. */
  readonly workerBefore: number;
  readonly workerAfter: number;
  /** Changes that were made between the two. */
  readonly changes: number;
}

/** @param warmMs caches fill, code is compiled @param ms of changes that are measured */
export async function heapGrowth(browser: Browser, feed: Feed, warmMs: number, ms: number): Promise<Growth> {
  const { context, page } = await openSignedIn(browser);
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.enable");
  const worker = await workerOf(await browser.newBrowserCDPSession());
  try {
    await feed.executions(150);
    await openPage(page, feed.service.url, "/executions", "shown");
    await churn(feed, warmMs);
    await Bun.sleep(settleMs);
    const shared = await worker();
    const before = await heapBytes(session);
    const workerBefore = await shared.heap();
    const changes = await churn(feed, ms);
    await Bun.sleep(settleMs);
    return { before, after: await heapBytes(session), workerBefore, workerAfter: await shared.heap(), changes };
  } finally {
    await context.close();
  }
}

/** Starts and cancels executions as fast as two clients do. @returns changes that were made */
async function churn(feed: Feed, ms: number): Promise<number> {
  const end = performance.now() + ms;
  let changes = 0;
  const client = async () => {
    while (performance.now() < end) {
      await feed.cancel(await feed.start());
      changes += 3;
      await Bun.sleep(10);
    }
  };
  await Promise.all([client(), client()]);
  return changes;
}

/** The browser's shared worker; Chromium shows it to those who speak to the whole browser. */
async function workerOf(session: CDPSession) {
  return async () => {
    const { targetInfos } = await session.send("Target.getTargets");
    const found = targetInfos.find(({ type }) => type === "shared_worker");
    if (found === undefined) throw new Error("the console has no worker");
    // Playwright speaks to pages only: messages to the worker are carried by hand.
    const { sessionId } = await session.send("Target.attachToTarget", { targetId: found.targetId, flatten: false });
    const waiting = new Map<number, (result: unknown) => void>();
    session.on("Target.receivedMessageFromTarget", ({ sessionId: from, message }) => {
      if (from !== sessionId) return;
      const { id, result } = JSON.parse(message) as { id?: number; result?: unknown };
      if (id !== undefined) waiting.get(id)?.(result);
    });
    let next = 1;
    const ask = (method: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, resolve);
        const message = JSON.stringify({ id, method, params: {} });
        session.send("Target.sendMessageToTarget", { sessionId, message }).catch(reject);
      });
    await ask("HeapProfiler.enable");
    return {
      async heap(): Promise<number> {
        for (let round = 0; round < 3; round += 1) await ask("HeapProfiler.collectGarbage");
        return ((await ask("Runtime.getHeapUsage")) as { usedSize: number }).usedSize;
      },
    };
  };
}
