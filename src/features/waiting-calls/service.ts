/** Tool calls outside of an agent's loop that wait for people: opened, read on, taken back. */

import type { CallArguments } from "../../../actors/approval/tool-call.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { type Grant, isGranted } from "../../../actors/policy/security/asked.ts";
import type { ToolCallState } from "../../../actors/tool-call/state.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import type { Starters } from "../../identity/callers/starters.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { CallEditor } from "../approvals/port.ts";
import {
  type AskPeople,
  type Call,
  type Cleared,
  type HoldCall,
  isCleared,
  type Pipeline,
  wholeArguments,
} from "../pipeline/port.ts";
import { ToolFailure, ToolRefusal } from "../tools/port.ts";
import { keptCall, madeAgain } from "./kept.ts";
import { mostOfPrincipal, type WaitingRecords } from "./records.ts";

type Arguments = { readonly [member: string]: Json };

/** Arguments as people may see them. @param executionId whose secrets are left out; null: of a caller without one */
export type ShowArguments = (tenant: string, executionId: string | null, given: Arguments) => Promise<CallArguments>;

/** What `svc.invocation.get` tells. */
export type ReadOn = { readonly [member: string]: Json };

interface Caller {
  readonly tenant: string;
  readonly principal: string;
}

/** What people are asked about a call that waits. */
export interface OpenQuestion {
  readonly approval_id: string;
  /** ISO 8601. */
  readonly expires_at: string;
  /** Whether the capability that asks lets the caller's own client ask the caller's person. */
  readonly elicit: boolean;
}

export interface WaitingCalls {
  /** Has people asked about a call. @throws ToolRefusal 2008 when as many calls wait as may */
  readonly open: AskPeople;
  /** Has a call wait with its run on a host, which asks people itself. @throws ToolRefusal as `open` */
  readonly hold: HoldCall;
  /**
   * How a call stands: `pending`, or what it came to.
   * @param waitSeconds holds the answer until it has ended or the time is up
   * @throws ToolFailure `not_found` also for a call of another principal
   */
  get(who: Caller, invocationId: string, waitSeconds: number, signal: AbortSignal): Promise<ReadOn>;
  /**
   * The question that is open now about a call; null: none is, because people have answered.
   * @throws ToolFailure as `get`
   */
  question(who: Caller, invocationId: string): Promise<OpenQuestion | null>;
  /** Callers that wait for the end of a call on this node. */
  reading(): number;
  /** Takes back what waits in a session that has ended. */
  withdrawSession(tenant: string, sessionId: string, reason: string): Promise<void>;
  /** Takes back everything of the tenant that waits. @returns whether nothing was left */
  withdrawTenant(tenant: string): Promise<boolean>;
  /** Erases all of the tenant, what it came to as well. @returns whether nothing was left */
  eraseTenant(tenant: string): Promise<boolean>;
}

export interface WaitingCallsOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: WaitingRecords;
  readonly show: ShowArguments;
  /** Calls of the tenant about which people are asked now, in loops and outside of them. */
  readonly asked: (tenant: string) => Promise<number>;
  /** The same of one execution. */
  readonly waitingOf: (tenant: string, executionId: string) => Promise<{ readonly execution: number }>;
  /** What approvers have granted to a caller. */
  readonly granted: GrantsOf;
  readonly addressOf: Starters["addressOf"];
  /** Whether this node sends mail. */
  readonly mails: boolean;
}

/** Who of those that ask need not be asked again. */
export type GrantsOf = (
  tenant: string,
  who: {
    readonly execution: { readonly id: string } | null;
    readonly principal: string;
    readonly sessionId: string | null;
  },
) => Promise<readonly Grant[]>;

/** Of all its calls, in loops and outside of them. */
const mostOfTenant = 1000;
const atOnce = 500;

export function createWaitingCalls(options: WaitingCallsOptions): WaitingCalls {
  const { runtime, records, show, asked, waitingOf, granted, addressOf, mails } = options;
  const calls = runtime.of(toolCall);
  let reading = 0;
  const withdraw = (tenant: string, id: string, reason: string) => calls.at(tenant, id).tell("withdraw", { reason });

  /** Calls of an execution that wait in its loop: of all that people are asked about, those that are not made here. */
  async function inLoop(tenant: string, executionId: string | null): Promise<number> {
    if (executionId === null) return 0;
    const [{ execution: all }, ours] = await Promise.all([
      waitingOf(tenant, executionId),
      records.countOf(tenant, executionId),
    ]);
    return Math.max(0, all - ours);
  }

  /** Where the mails of those who stand behind a call go, as far as that is known. */
  async function addresses({ starter, opener }: Call["who"]) {
    return {
      starter_email: starter === null ? null : await addressOf(starter),
      opener_email: opener?.email ?? null,
    };
  }

  async function callOf({ tenant, principal }: Caller, invocationId: string): Promise<ToolCallState> {
    const state = await calls.at(tenant, invocationId).read();
    if (state !== null && state.call.principal === principal) return state;
    throw new ToolFailure("not_found", "There is no such call of this caller that waits or waited");
  }

  /** Resolves when the call has ended, or the time is up, or the caller is gone. */
  function untilEnded(tenant: string, id: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        stop();
        resolve();
      };
      const timer = setTimeout(() => done(), ms);
      const stop = calls.at(tenant, id).tail(0, () => done());
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /** Takes a place, and gives it back where the call was not opened. @throws ToolRefusal where none is free */
  async function inPlace<T>(
    { tenant, invocationId, who }: Call,
    tool: string,
    open: () => Promise<T | null>,
  ): Promise<T> {
    const [ofTenant, elsewhere] = await Promise.all([asked(tenant), inLoop(tenant, who.execution?.id ?? null)]);
    if (ofTenant >= mostOfTenant) throw full(tool, "tenant");
    if (!(await records.take(invocationId, tenant, who.principal, elsewhere))) throw full(tool, "execution or caller");
    try {
      const opened = await open();
      if (opened === null) throw new Error("a call that has ended is opened again");
      return opened;
    } catch (error) {
      // Where the answer was lost it may wait all the same: then its own row is written anew.
      await records.giveBack(invocationId).catch(() => {});
      throw error;
    }
  }

  /** As it is kept: with what addresses a host, so that it is made there and nowhere else. */
  async function kept(call: Call, cleared: Cleared) {
    const { name } = cleared.tool;
    return { ...keptCall({ ...call, tool: name }, wholeArguments(cleared)), ...(await addresses(call.who)), mails };
  }

  return {
    async hold(call, cleared, held) {
      const { tenant, invocationId, who } = call;
      const shown = await show(tenant, who.execution?.id ?? null, wholeArguments(cleared));
      return inPlace(call, cleared.tool.name, async () =>
        calls.at(tenant, invocationId).ask("hold", { call: await kept(call, cleared), shown, held: { ...held } }),
      );
    },

    async open(call, cleared) {
      const { tenant, invocationId, who } = call;
      const { tool } = cleared;
      const given = wholeArguments(cleared);
      const [shown, grants] = await Promise.all([show(tenant, who.execution?.id ?? null, given), granted(tenant, who)]);
      const wanted = cleared.clearance.approvals.filter((ask) => !isGranted(grants, tool.name, ask, shown.sha256));
      if (wanted.length === 0) return null;
      return inPlace(call, tool.name, async () =>
        calls.at(tenant, invocationId).ask("open", { call: await kept(call, cleared), shown, asked: wanted }),
      );
    },

    async question(who, invocationId) {
      const { status, asked, agreed, approval_id, expires_at } = await callOf(who, invocationId);
      const open = status === "waiting" ? asked[agreed] : undefined;
      return open === undefined ? null : { approval_id, expires_at: iso(expires_at), elicit: open.approval.elicit };
    },

    async get(who, invocationId, waitSeconds, signal) {
      const { tenant } = who;
      const actor = calls.at(tenant, invocationId);
      let state = await callOf(who, invocationId);
      if (state.outcome === null && waitSeconds > 0) {
        reading += 1;
        await untilEnded(tenant, invocationId, waitSeconds * 1000, signal).finally(() => {
          reading -= 1;
        });
        state = (await actor.read()) ?? state;
      }
      const { approval_id, expires_at, outcome } = state;
      if (outcome !== null) return { status: "success", outcome: outcome.outcome, result: outcome.result };
      return {
        status: "pending",
        code: "approval_pending",
        approval_id,
        invocation_id: invocationId,
        expires_at: iso(expires_at),
      };
    },

    reading: () => reading,

    async withdrawSession(tenant, sessionId, reason) {
      const rows = await records.ofSession(tenant, sessionId);
      await Promise.all(rows.map(({ invocation_id }) => withdraw(tenant, invocation_id, reason)));
    },

    async withdrawTenant(tenant) {
      const rows = await records.ofTenant(tenant, atOnce);
      await Promise.all(rows.map(({ invocation_id }) => withdraw(tenant, invocation_id, "The tenant was deleted")));
      return rows.length === 0;
    },

    async eraseTenant(tenant) {
      const rows = await records.allOfTenant(tenant, atOnce);
      await Promise.all(rows.map(({ invocation_id }) => calls.at(tenant, invocation_id).tellCommitted("erase", {})));
      return rows.length === 0;
    },
  };
}

const full = (tool: string, of: string): ToolRefusal =>
  new ToolRefusal(
    2008,
    "concurrency_exceeded",
    "concurrent_exec_limit_exceeded",
    `${tool} cannot wait for a person: as many calls of the ${of} wait as may (${of === "tenant" ? mostOfTenant : mostOfPrincipal})`,
    tool,
  );

/** Checks what an approver wants a call to run with: against the tool's schema and the constraints of today. */
export function editorOf(
  { runtime, show }: Pick<WaitingCallsOptions, "runtime" | "show">,
  pipeline: Pick<Pipeline, "clear">,
  starters: Parameters<typeof madeAgain>[2],
): CallEditor {
  return async ({ tenant, owner, invocationId, tool, arguments: edit }) => {
    const issue = (message: string, path = "arguments") => ({ path, message, code: "invalid" });
    const state = await runtime.of(toolCall).at(tenant, owner.key).read();
    if (state === null) return { fits: false, issues: [issue(`${tool} waits no longer`)] };
    const { signal } = new AbortController();
    const made = await madeAgain(state.call, { tenant, invocationId, signal }, starters);
    const [judged] = await pipeline.clear([{ ...made, arguments: edit }], true);
    if (judged === undefined) throw new Error("a call was not judged");
    if (isCleared(judged)) {
      return { fits: true, arguments: await show(tenant, state.call.execution?.id ?? null, wholeArguments(judged)) };
    }
    const { clearance } = judged;
    const issues = clearance.is === "failed" ? (clearance.issues ?? []) : [];
    const told = issues.map(({ path, message }) => issue(String(message), String(path)));
    return { fits: false, issues: told.length > 0 ? told : [issue(clearance.message)] };
  };
}
