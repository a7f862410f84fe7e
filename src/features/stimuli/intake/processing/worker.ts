/**
 * Processes stimuli that no caller waits for: those acknowledged as received, those that are to be tried again, and those
 * whose node was lost. Every node looks for them; a row is taken by one node at a time, for as long as its lease.
 *
 * Accepting goes before processing: while deliveries come in, only a share of the node's time goes here, so that a burst
 * is taken in first and worked off afterwards; once what waits has waited for some seconds, the two share the node.
 * What waits is bounded per tenant at acceptance. A tenant whose
 * stimuli take long, because an agent classifies them, does not keep those of others waiting.
 */

import type { Stimulus } from "../../../../../actors/stimulus/stimulus.ts";
import type { Processor } from "./processor.ts";

export interface WorkerOptions {
  /** Takes up rows that are due, the oldest first, at most `limit`, none of the tenants named. */
  readonly due: (limit: number, except: readonly string[]) => Promise<readonly Stimulus[]>;
  /** Whether the last look saw anything that waits, due or not. */
  readonly waits: () => boolean;
  readonly processStimulus: Processor;
  /** How many deliveries this node is accepting at the moment. */
  readonly accepting: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface StimulusWorker {
  /** Begins to look for stimuli that are due. */
  start(): void;
  /** How many are being processed. */
  underWay(): number;
  /** Stimuli were accepted that wait to be processed. */
  wake(): void;
  /** Ends it; resolves when what it has begun is done, or soon: others take up what was left. */
  close(): Promise<void>;
}

/** Processed side by side, in all and of one tenant. */
const most = 256;
const mostOfTenant = 64;
/** Bytes of contents of one tenant that are processed side by side, about. */
const mostBytesOfTenant = 4 * 1_048_576;
/** Taken up with one query. */
const atOnce = 64;
/** The same while deliveries come in, and in a burst of them: so many, and the next ones after a pause at most as long, ms. */
const besideDeliveries = { atOnce: 16, pauseMs: 20 };
const inBurst = { atOnce: 8, pauseMs: 100 };
/** From so many deliveries at once on it is a burst. */
const burst = 16;
/** Deliveries go first until what was taken in has waited for so long, ms. */
const behindMs = 5_000;
/** What is under way when the node leaves is waited for so long, ms. */
const drainMs = 5_000;
/** How often a node looks that was not woken, ms: while something waits, and while nothing does. */
const [lookEveryMs, lookIdleMs] = [1_000, 4_000];

export function createWorker({ due, waits, processStimulus, accepting, report, now }: WorkerOptions): StimulusWorker {
  const underWay = new Map<string, { count: number; bytes: number }>();
  const processed = new Set<Promise<void>>();
  /** What is taken up next has waited long enough. */
  let isBehind = false;
  let isStopping = false;
  let isWoken = true;
  let rouse: (() => void) | null = null;

  async function rest(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      rouse = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    rouse = null;
  }

  function begin(stimulus: Stimulus): Promise<void> {
    const { tenant, contentSize } = stimulus;
    const share = underWay.get(tenant) ?? { count: 0, bytes: 0 };
    underWay.set(tenant, share);
    share.count++;
    share.bytes += contentSize;
    const done: Promise<void> = processStimulus(stimulus).then(() => {
      processed.delete(done);
      share.count--;
      share.bytes -= contentSize;
      if (share.count === 0) underWay.delete(tenant);
      isWoken = true;
      rouse?.();
    });
    processed.add(done);
    return done;
  }

  /** @returns whether there may be more to take at once */
  async function round(): Promise<boolean> {
    const deliveries = isBehind ? 0 : accepting();
    const pace = deliveries >= burst ? inBurst : deliveries > 0 ? besideDeliveries : null;
    const free = most - processed.size;
    const room = Math.min(pace?.atOnce ?? atOnce, Math.max(inBurst.atOnce, free >> 1), free);
    // A query for each that ends would cost more than the wait for a few of them.
    if (room < inBurst.atOnce) return false;
    // The less is free, the less a tenant may have of it: several with stimuli that take long leave room as well.
    const full = [...underWay]
      .filter(([, { count, bytes }]) => count >= Math.min(mostOfTenant, free) || bytes >= mostBytesOfTenant)
      .map(([tenant]) => tenant);
    const taken = await due(room, full);
    // One that is tried again has waited for another reason.
    isBehind = taken.some(({ attempts, receivedAt }) => attempts === 1 && now() - receivedAt > behindMs);
    const begun = taken.map(begin);
    if (pace === inBurst && taken.length > 0) await Bun.sleep(pace.pauseMs);
    else if (pace !== null) await Promise.race([Promise.all(begun), Bun.sleep(pace.pauseMs)]);
    return taken.length > 0;
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      isWoken = false;
      let more = false;
      let isIdle = false;
      try {
        more = await round();
        isIdle = !waits();
      } catch (error) {
        report("stimulus_pump_failed", { error: String(error) });
      }
      if (!more && !isWoken && !isStopping) await rest(isIdle ? lookIdleMs : lookEveryMs);
    }
    await Promise.race([Promise.all(processed), Bun.sleep(drainMs)]);
  }

  let running: Promise<void> | null = null;
  return {
    underWay: () => processed.size,
    start() {
      running ??= run();
    },
    wake() {
      isWoken = true;
      rouse?.();
    },
    async close() {
      isStopping = true;
      rouse?.();
      await running;
    },
  };
}
