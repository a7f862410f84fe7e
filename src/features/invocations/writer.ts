/**
 * Records of tool calls that no actor runs: begun before the tool starts, many with one statement; what became of them is
 * written within a tenth of a second. Equal refusals of a caller within a minute are one record with a count.
 */
import { createHash } from "node:crypto";
import { type InvocationBegin, type InvocationChange, isEnded } from "../../../actors/tool/invocation.ts";
import { inBatches } from "../../store/batches.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { firstIdAt, longestCallMs } from "./ids.ts";
import { interruptCalls } from "./interrupted.ts";
import {
  bareInvocations,
  type ChangedInvocation,
  changeAlone,
  countInvocations,
  type InvocationPolicy,
  insertInvocations,
  keepResults,
  type NewInvocation,
} from "./statements.ts";

/** A call that policy has spoken of. */
export interface CallOnRecord {
  readonly id: string;
  readonly tenant: string;
  readonly begin: InvocationBegin;
}

/** A call that is not run. */
export interface RefusedOnRecord extends CallOnRecord {
  readonly code: string;
  /** Null: it was no policy that refused it. */
  readonly violation_type: string | null;
  /** Its record was begun by the caller of the pipeline. */
  readonly recorded: boolean;
}

export interface InvocationWriter {
  /** Durable once it resolves; what fails was not written. @throws what the store throws */
  begin(call: CallOnRecord, outcome: "running" | "waiting"): Promise<void>;
  /** What became of a call that is on record. Never throws and never waits: it is written within 100 ms, or once it can be. */
  change(id: string, tenant: string, change: InvocationChange & { readonly result?: string }): void;
  /** Likewise: what policy says of a call whose record was begun by the caller of the pipeline. */
  judged(id: string, tenant: string, policy: InvocationPolicy): void;
  /** Likewise: the call turned out to be none, its record keeps its envelope from coming twice and tells no more. */
  bare(id: string, tenant: string): void;
  /** Likewise. Equal ones of one session or principal within a minute share a record. */
  refused(call: RefusedOnRecord): void;
  /** Records that are not written yet, and those of refusals that others may still share. */
  waiting(): number;
  flush(): Promise<void>;
  /** The last flush; calls that are still under way are put down as interrupted. */
  stop(): Promise<void>;
}

export interface WriterOptions {
  readonly sql: Sql;
  readonly now: () => number;
  /** This node's id. */
  readonly node: string;
  /** Told when writing failed; what was to be written stays and is tried again. */
  readonly warn: (error: unknown) => void;
}

const limits = { rows: 500, statements: 2 };
const everyMs = 50;
const sharedForMs = 60_000;
/** Different refusals of one caller in a minute; further ones are counted by a record that says only that. */
const maxPerCaller = 100;
/** Refusals that others may share, at once. */
const maxShared = 20_000;

/** A record that equal refusals share. */
interface Shared {
  readonly row: NewInvocation;
  readonly caller: string;
  /** Not written yet. */
  pending: number;
  isWritten: boolean;
}

export function createInvocationWriter({ sql, now, node, warn }: WriterOptions): InvocationWriter {
  const changes = new Map<string, ChangedInvocation>();
  /** Records of callers that turned out to be equal refusals: they keep their envelope from coming twice, no more. */
  let bared: { readonly id: string; readonly tenant: string }[] = [];
  const shared = new Map<string, Shared>();
  const callers = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();
  let isScheduled = false;

  const execute = async (statement: { text: string; parameters: readonly unknown[] }): Promise<void> => {
    await sql.unsafe(statement.text, statement.parameters as string[], { prepare: true });
  };

  const insert = inBatches(async (rows: readonly NewInvocation[]): Promise<readonly null[]> => {
    await execute(insertInvocations(rows));
    return rows.map(() => null);
  }, limits);

  function schedule(afterMs = everyMs): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      void flush().catch((error) => {
        warn(error);
        schedule(1000);
      });
    }, afterMs).unref();
  }

  async function write(): Promise<void> {
    await writeChanges();
    await writeRefusals();
    forget();
  }

  async function writeChanges(): Promise<void> {
    const all = [...changes.values()];
    for (let from = 0; from < all.length; from += limits.rows) {
      const some = all.slice(from, from + limits.rows);
      const results = keepResults(some);
      await Promise.all([execute(changeAlone(some)), results === null ? null : execute(results)]);
      for (const one of some) if (changes.get(one.id) === one) changes.delete(one.id);
    }
    const bare = bared.splice(0);
    if (bare.length === 0) return;
    try {
      await execute(bareInvocations(bare));
    } catch (error) {
      bared = [...bare, ...bared];
      throw error;
    }
  }

  async function writeRefusals(): Promise<void> {
    const all = [...shared.values()].filter(({ pending }) => pending > 0);
    for (let from = 0; from < all.length; from += limits.rows) {
      const some = all.slice(from, from + limits.rows);
      const counts = some.map(({ pending }) => pending);
      const fresh = some.filter(({ isWritten }) => !isWritten);
      const known = some.flatMap(({ row: { id }, isWritten }, at) =>
        isWritten ? [{ id, more: counts[at] ?? 0 }] : [],
      );
      if (fresh.length > 0) {
        await execute(insertInvocations(fresh.map(({ row, pending }) => ({ ...row, count: pending }))));
      }
      if (known.length > 0) await execute(countInvocations(known));
      for (const [at, one] of some.entries()) {
        one.pending -= counts[at] ?? 0;
        one.isWritten = true;
      }
    }
  }

  /** Lets go of what nothing can share any more. */
  function forget(): void {
    const at = now();
    for (const [key, { pending, row, caller }] of shared) {
      if (pending > 0 || at - row.at < sharedForMs) continue;
      shared.delete(key);
      const left = (callers.get(caller) ?? 1) - 1;
      if (left > 0) callers.set(caller, left);
      else callers.delete(caller);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(write, write);
    return writing;
  }

  function share(call: RefusedOnRecord, key: string, caller: string): void {
    const { id, tenant, begin, code, violation_type, recorded } = call;
    const at = now();
    const row: NewInvocation = { id, tenant, at, begin, outcome: "failed", code, violation_type, node: null };
    if (!shared.has(key)) callers.set(caller, (callers.get(caller) ?? 0) + 1);
    shared.set(key, { row, caller, pending: recorded ? 0 : 1, isWritten: recorded });
    if (!recorded) return;
    const { tool_name, workflow_name, security_context, context_version, capability_index, decision } = begin;
    const denied = decision === "deny" ? ({ decision } as const) : {};
    const policy = { tool_name, workflow_name, security_context, context_version, capability_index };
    changes.set(id, {
      ...changes.get(id),
      id,
      tenant,
      at,
      outcome: "failed",
      code,
      violation_type,
      ...denied,
      ...policy,
    });
  }

  return {
    async begin({ id, tenant, begin }, outcome) {
      await insert({ id, tenant, at: now(), begin, outcome, node });
    },
    change(id, tenant, change) {
      const known = changes.get(id);
      // A call that has ended stays as it ended.
      if (known?.outcome !== undefined && isEnded(known.outcome)) return;
      changes.set(id, { ...known, ...change, id, tenant, at: now() });
      schedule();
    },
    judged(id, tenant, policy) {
      changes.set(id, { ...changes.get(id), ...policy, id, tenant, at: now() });
      schedule();
    },
    bare(id, tenant) {
      changes.delete(id);
      bared.push({ id, tenant });
      schedule();
    },
    refused(call) {
      const { id, tenant, begin, code, violation_type, recorded } = call;
      const caller = JSON.stringify([tenant, begin.session_id ?? begin.principal]);
      const about = [caller, begin.tool_name, code, violation_type, begin.arguments_sha256];
      const isFull = shared.size >= maxShared || (callers.get(caller) ?? 0) >= maxPerCaller;
      const key = digest(JSON.stringify(isFull ? [caller, "further"] : about));
      const known = shared.get(key);
      if (known !== undefined && (known.pending > 0 || now() - known.row.at < sharedForMs)) {
        known.pending += 1;
        if (recorded) bared.push({ id, tenant });
      } else share(call, key, caller);
      schedule();
    },
    waiting: () => changes.size + shared.size,
    flush,
    async stop() {
      await flush();
      // Whether they took effect is not known; this node tells nothing more of them.
      await interruptCalls(sql, sql`id >= ${firstIdAt(now() - longestCallMs)} and node = ${node}`);
    },
  };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("base64");
