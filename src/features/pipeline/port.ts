/** What other features may use of the pipeline that every call of a tool goes through. */
import type { CallTarget } from "../../../actors/edge/call-target.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { RateWarning } from "../../../actors/policy/rates/standing.ts";
import type { ClearedCall, FailedCall, RefusedCall } from "../../../actors/policy/security/clearance.ts";
import type { Governing } from "../../../actors/policy/security/evaluate.ts";
import type { Masker } from "../../lib/masking/masker.ts";
import type { Call, CallBounds, CallPolicy, CallWho, RegisteredTool, ToolOutcome, ToolRequest } from "../tools/port.ts";

export type { Call, CallBounds, CallPolicy, CallWho } from "../tools/port.ts";
export { withTarget } from "./host-schema.ts";

/** A call that policy lets pass, as the node that is to run it has it. */
export interface Cleared {
  readonly clearance: ClearedCall;
  readonly tool: RegisteredTool;
  /** Without what addresses a host. */
  readonly arguments: { readonly [member: string]: Json };
  /** The host that is to run it; null: none is. */
  readonly target: CallTarget | null;
  readonly governing: readonly Governing[];
  readonly bounds: CallBounds;
  /** When policy said so, ms of this process's own clock (`performance.now()`). */
  readonly at: number;
  /** Windows of limits of which most is used up since this call. */
  readonly warnings?: readonly RateWarning[];
}

export type Judged = Cleared | { readonly clearance: RefusedCall | FailedCall };

/** The arguments with what addresses a host, as the call is made by them. */
export const wholeArguments = ({
  arguments: given,
  target,
}: Pick<Cleared, "arguments" | "target">): Call["arguments"] => (target === null ? given : { ...given, target });

export const isCleared = (judged: Judged): judged is Cleared => judged.clearance.is === "cleared";

/** What a call came to. */
export type Invoked =
  /** It ran and succeeded. */
  | { readonly is: "succeeded"; readonly result: { readonly [member: string]: Json }; readonly edited?: true }
  /**
   * It ran and failed, or could not be run at all: `unknown_tool`, `tool_changed`, `invalid_arguments` (with issues),
   * `execution_required`, `rejected_by_person` and others; or its caller ended before it ran: `execution_not_running`,
   * `session_inactive`.
   */
  | {
      readonly is: "failed";
      readonly code: string;
      readonly message: string;
      readonly details?: Json;
      readonly issues?: readonly { readonly [member: string]: Json }[];
      /** Whether the tool was reached. */
      readonly ran: boolean;
    }
  /** Policy forbids it: 2000 to 2009. `details` carry `retry_after_seconds` for 2005 and 2008. */
  | ({ readonly is: "refused" } & Pick<RefusedCall, "error_code" | "code" | "violation_type" | "message" | "details">)
  /** A person is asked; the outcome is read by the invocation's id. */
  | { readonly is: "waiting"; readonly approval_id: string; readonly expires_at: string };

/** A call whose run on a host asks people before it begins; the run has an approval of its own. */
export interface Held {
  readonly fleet_command_id: string;
  readonly approval_id: string;
  /** Unix ms. */
  readonly expires_at: number;
}

/** How calls reach edge hosts. */
export interface HostRoute {
  /**
   * Runs a call on its host, as a run of one. Repeatable: the same call joins the same run.
   * @returns once the run has ended, or asks people
   */
  call(request: ToolRequest, target: CallTarget): Promise<ToolOutcome | ({ readonly status: "waiting" } & Held)>;
  /** Its caller is gone or its time is up: what it runs is cancelled. Repeatable. */
  cancel(call: HostCallKey, reason: string): Promise<void>;
}

/** What the id of a call's run on a host is made of. */
export type HostCallKey = Pick<ToolRequest, "tenant" | "entry" | "invocationId" | "idempotencyKey" | "who">;

/** What a caller is told of a call that policy does not let run. */
export function refusalOf(clearance: Judged["clearance"]): Invoked {
  switch (clearance.is) {
    case "refused": {
      const { error_code, code, violation_type, message, details } = clearance;
      return { is: "refused", error_code, code, violation_type, message, details };
    }
    case "failed": {
      const { code, message, issues } = clearance;
      return { is: "failed", code, message, ran: false, ...(issues === undefined ? {} : { issues }) };
    }
    case "cleared":
      throw new Error("the call is cleared");
  }
}

/** Thrown by a call's `begins`: its caller is gone for good, and nothing is to be run for it. */
export class CallWithdrawn extends Error {
  override readonly name = "CallWithdrawn";
}

/**
 * Has a person asked about a call, durably.
 * @returns once the approval is open; null: all whom policy has asked have granted it before
 * @throws ToolRefusal where it may not wait
 */
export type AskPeople = (call: Call, cleared: Cleared) => Promise<{ approval_id: string; expires_at: string } | null>;

/** Has a call wait with its run, durably. @throws ToolRefusal where it may not wait */
export type HoldCall = (
  call: Call,
  cleared: Cleared,
  held: Held,
) => Promise<{ readonly approval_id: string; readonly expires_at: string }>;

export interface InvokeOptions {
  /** Where calls may be sent to hosts; absent: this caller's calls cannot wait there, and fail. */
  readonly hold?: HoldCall;
  /** The record of the call was begun by the caller, as allowed and running. */
  readonly recorded?: boolean;
  /** Whether its caller may call still: asked where judges took their time. */
  readonly standing?: () => Promise<"active" | "session_inactive" | "execution_not_running">;
}

export interface Pipeline {
  /**
   * What policy says of calls of one caller: by name, arguments, constraints, rates and limits, in this order. Nothing
   * runs, and nothing is put on record.
   * @param calls all of one tenant, caller and policy
   * @param again they were cleared before: rates and limits are not counted once more
   * @throws Problem 503 when a rule or a limit cannot be had
   */
  clear(calls: readonly Call[], again?: boolean): Promise<readonly Judged[]>;
  /**
   * Runs a cleared call within its bounds. Nothing is put on record.
   * @param waits for a place where as many calls run as the capability allows, rather than refuse (2008)
   */
  run(call: Call, cleared: Cleared, waits?: boolean): Promise<ToolOutcome | ({ readonly status: "waiting" } & Held)>;
  /**
   * The whole way of a call outside of a loop: cleared, judged, perhaps asked about, run, put on record.
   * @throws Problem 503 when it could not be begun; it did not run
   */
  invoke(call: Call, ask: AskPeople, options?: InvokeOptions): Promise<Invoked>;
  /**
   * A call that waited and was approved: cleared by today's policy without rates, judges and approvals, and run. The
   * record goes on with it.
   * @param edited the arguments that an approver put in their place
   */
  resume(call: Call, edited?: { readonly [member: string]: Json }): Promise<Invoked | ({ readonly is: "held" } & Held)>;
  /** The tools that a caller has today, in the order of the registry. */
  effective(tenant: string, who: CallWho, policy: CallPolicy): Promise<readonly RegisteredTool[]>;
}

/** What an agent's tool judges say of a call. */
export type JudgesSaid =
  | { readonly is: "unasked" }
  | { readonly is: "cleared" }
  | { readonly is: "rejected"; readonly judge: string; readonly score: number; readonly reason: string }
  /** `most` calls of the execution are being judged: as many as may. */
  | { readonly is: "full"; readonly most: number }
  /** The execution has ended. */
  | { readonly is: "over" };
/** Asks them, and waits for what they say. Repeatable for a call with the same `idempotencyKey`. @throws Problem 503 */
export type JudgeCall = (call: Call, cleared: Cleared) => Promise<JudgesSaid>;

/** Hides what an execution was given; null: it was given nothing that is secret. */
export type MaskerOf = (tenant: string, executionId: string) => Promise<Masker | null>;

export interface PipelineService extends Pipeline {
  /** Registers who knows what an execution was given that is secret. */
  hiddenBy(known: MaskerOf): void;
  /** Registers who asks the tool judges of an execution. */
  judgedBy(judge: JudgeCall): void;
  /** Registers the way to edge hosts. */
  hostsBy(route: HostRoute): void;
}
