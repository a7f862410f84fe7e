/**
 * The way of a checked message to its row (docs/reference/stimuli.md): first the key, then the backlog and
 * the rate, then the row. The key is claimed with the row; before that, repeats are told from what is known of the key,
 * so that one costs nothing, however little the tenant has left.
 */
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Arrival, Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import type { Debited, Limiter, RateUse } from "../../limits/port.ts";
import type { Acceptance, Holder } from "./acceptance.ts";
import type { Backlog } from "./backlog.ts";
import type { SettledWatch } from "./processing/settled-watch.ts";

export interface AdmissionOptions {
  readonly acceptance: Acceptance;
  readonly backlog: Backlog;
  readonly watch: SettledWatch;
  readonly limiter: Pick<Limiter, "debit" | "refund">;
  /** Counts repeats of a delivery on the stimulus that was accepted. */
  readonly duplicate: (tenant: string, stimulusId: string) => Promise<void>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface Admitted {
  readonly stimulus: Stimulus;
  /** The caller's rates. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How a message is taken in that is not like every other. */
export interface Taking {
  /** The key may be in use: then it stays with its holder. */
  readonly force: boolean;
  /** A fresh UUIDv7 that the stimulus gets as its id; null: any. */
  readonly id: string | null;
}

/**
 * @throws Problem 409 `idempotent_duplicate`, 429 `rate_limited`, 503
 */
export type Admit = (arrival: Arrival, use: RateUse, taking: Taking) => Promise<Admitted>;

/** A repeat of what is being routed waits for the outcome so long, ms (docs/reference/stimuli.md). */
const timeoutMs = 35_000;

export function createAdmission(options: AdmissionOptions): Admit {
  const { acceptance, backlog, watch, limiter, now } = options;
  /** What this node is taking in now, by key. */
  const takingIn = new Map<string, Promise<Admitted>>();

  async function refuseDuplicate({ tenant }: Arrival, holder: Holder): Promise<Problem> {
    await options.duplicate(tenant, holder.stimulusId);
    return duplicate(holder);
  }

  /** Waits until no stimulus holds the key. @returns whether one did @throws Problem 409 */
  async function freed(arrival: Arrival, until: number): Promise<boolean> {
    for (let wasHeld = false; ; wasHeld = true) {
      const holder = await acceptance.holder(arrival);
      if (holder === null) return wasHeld;
      await ended(arrival, holder, until);
    }
  }

  /** Waits for the end of what is being routed under the key. @throws Problem 409 */
  async function ended(arrival: Arrival, holder: Holder, until: number): Promise<void> {
    if (isSuccess(holder)) throw await refuseDuplicate(arrival, holder);
    const left = until - now();
    if (left <= 0) throw inProgress(holder);
    await watch.wait({ tenant: arrival.tenant, id: holder.stimulusId }, left);
  }

  async function debit(arrival: Arrival, use: RateUse, force: boolean, until: number): Promise<Debited> {
    for (;;) {
      try {
        if (arrival.acknowledge === "received") await backlog.require(arrival.tenant);
        return await limiter.debit(use);
      } catch (error) {
        const wasHeld = !force && (await freed(arrival, until).catch(unlessStoreIsAway));
        if (!wasHeld) throw error;
      }
    }
  }

  async function accept(arrival: Arrival, { force, id }: Taking, until: number): Promise<Stimulus> {
    for (let claims = true; ; ) {
      const outcome = await acceptance.accept(arrival, { claims, id });
      if ("accepted" in outcome) return outcome.accepted;
      if (force && isSuccess(outcome.duplicateOf)) claims = false;
      else await ended(arrival, outcome.duplicateOf, until);
    }
  }

  async function admit(arrival: Arrival, use: RateUse, taking: Taking, until: number): Promise<Admitted> {
    const { headers, at } = await debit(arrival, use, taking.force, until);
    try {
      return { stimulus: await accept(arrival, taking, until), headers };
    } catch (error) {
      await limiter.refund(use, at);
      throw error;
    }
  }

  return async (arrival, use, taking) => {
    const until = now() + timeoutMs;
    const { tenant, source, key } = arrival;
    if (key === null || taking.force) return admit(arrival, use, taking, until);
    // Neither tenants nor sources hold blanks.
    const name = `${tenant} ${source} ${key}`;
    for (;;) {
      const first = takingIn.get(name);
      if (first === undefined) {
        const admitting = admit(arrival, use, taking, until);
        takingIn.set(name, admitting);
        return admitting.finally(() => takingIn.delete(name));
      }
      const isTaken = await first.then(() => true, isDuplicate);
      // The first one was refused for what may not hold for this one.
      if (!isTaken) return admit(arrival, use, taking, until);
      await freed(arrival, until);
    }
  };
}

/** What is acknowledged before it is routed counts as done; anything else once it started a run. */
function isSuccess({ status, acknowledge }: Holder): boolean {
  return status !== "received" || acknowledge === "received";
}

const isDuplicate = (error: unknown): boolean => error instanceof Problem && error.code === "idempotent_duplicate";

/** The refusal that led here says enough then. */
function unlessStoreIsAway(error: unknown): false {
  if (isDuplicate(error)) throw error;
  return false;
}

function duplicate(holder: Holder): Problem {
  const what = holder.by === "key" ? "This key" : "This signed delivery";
  return new Problem("idempotent_duplicate", `${what} was already processed`, original(holder));
}

function inProgress(holder: Holder): Problem {
  const what = holder.by === "key" ? "This key" : "This signed delivery";
  const extras = { ...original(holder), in_progress: true };
  return new Problem("idempotent_duplicate", `${what} is being processed`, extras, { "Retry-After": "5" });
}

const original = ({ stimulusId, executionId, status, by }: Holder) => ({
  original_stimulus_id: stimulusId,
  workflow_execution_id: executionId,
  status,
  ...(by === "key" ? {} : { reason: "replayed" }),
});
