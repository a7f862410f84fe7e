/**
 * Work that hostile input can make endless (compiling a schema, checking one with patterns, judging a manifest of a
 * mebibyte, a walk over a huge tree) runs in a child process with a time budget and is killed when the budget is spent.
 *
 * Not a Worker: measured on Bun 1.4, a thread inside a compiled regular expression does not notice
 * `terminate()` and burns its core for as long as the match takes. A process always dies. A fresh one costs about
 * 100 ms of a core, most of it for loading its program, so processes that compute are kept for the next job.
 */
import { availableParallelism } from "node:os";
import { Child, ChildEnded } from "./child.ts";
import { Slots } from "./slots.ts";

/** Computations keep no files open and share their processes; walks over files get a process each. */
export type GuardedKind = "computation" | "walk";

export interface GuardedOptions {
  readonly kind: GuardedKind;
  /** Whose turn it takes. */
  readonly tenant: string;
  /** Milliseconds of work, waiting for a turn and loading the program not counted. */
  readonly budgetMs: number;
  /** Aborted when the answer is wanted no longer: the work leaves its line, or is killed. */
  readonly signal?: AbortSignal | undefined;
  /** Whether it waits in a line of any length: work of activities, which is stored and bounded elsewhere. */
  readonly durable?: boolean;
  /** Called when its turn has come; what it throws ends the work. */
  readonly begins?: (() => Promise<void>) | undefined;
}

/** Of each kind; a tenant holds at most half of them, so that another one's work begins at once. */
const slots = Math.max(2, availableParallelism());
const limits = { slots, perTenant: Math.floor(slots / 2), waitingPerTenant: 8, waiting: 128 };
const slotsOf: Readonly<Record<GuardedKind, Slots>> = { computation: new Slots(limits), walk: new Slots(limits) };

/** Work that waits for a slot on this node, of all tenants. */
export const guardedWaiting = (): number => slotsOf.computation.size + slotsOf.walk.size;

/** Processes that wait for their next job, the one used last at the end. */
const idle: Child[] = [];
/** A kept process takes about 60 MiB. */
const idleMs = 30_000;
/** After so many jobs its memory is given back. */
const mostJobs = 500;

/**
 * Runs one job in a process of its own.
 * @param program path of a module that calls `serveGuarded`
 * @param input   anything JSON can carry
 * @throws SlotsFull when too much is waiting, BudgetExceeded, the signal's reason when aborted, Error when the child
 *   failed
 */
export async function runGuarded(
  program: string,
  input: unknown,
  { kind, tenant, budgetMs, signal, durable = false, begins }: GuardedOptions,
): Promise<unknown> {
  const release = await slotsOf[kind].take({ tenant, signal, durable });
  try {
    await begins?.();
    const text = JSON.stringify(input);
    const kept = kind === "computation" ? takeIdle(program) : null;
    if (kept === null) return await runIn(new Child(program), text);
    try {
      return await runIn(kept, text);
    } catch (error) {
      // It was ended by the system while it was idle, or its memory was used up by what it did before.
      if (error instanceof ChildEnded) return await runIn(new Child(program), text);
      throw error;
    }
  } finally {
    release();
  }

  async function runIn(child: Child, text: string): Promise<unknown> {
    try {
      return await child.run(text, budgetMs, signal);
    } finally {
      if (kind === "computation" && child.isAlive && child.jobs < mostJobs) keep(child);
      else child.kill();
    }
  }
}

function takeIdle(program: string): Child | null {
  const at = idle.findLastIndex((child) => child.program === program);
  const [child] = at < 0 ? [] : idle.splice(at, 1);
  if (child === undefined) return null;
  return child.isAlive ? child : takeIdle(program);
}

function keep(child: Child): void {
  idle.push(child);
  if (idle.length > slots) idle.shift()?.kill();
  const { jobs } = child;
  const expire = () => {
    const at = idle.indexOf(child);
    if (at < 0 || child.jobs !== jobs) return;
    idle.splice(at, 1);
    child.kill();
  };
  setTimeout(expire, idleMs).unref();
}
