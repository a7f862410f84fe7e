/** Whether a tool call of an execution may run with the arguments that an approver wants for it. */
import { execution } from "../../../../../actors/execution/execution.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { Issue } from "../../../../../actors/kernel/problem.ts";
import type { Masker } from "../../../../lib/masking/masker.ts";
import type { Address, Runtime } from "../../../../runtime/port.ts";
import { type CallEditor, shownArguments } from "../../../approvals/port.ts";
import { isCleared, type Pipeline } from "../../../pipeline/port.ts";
import type { Plans } from "../../plans.ts";
import { callerOf } from "./loop-caller.ts";

export interface CallEditorOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  readonly pipeline: Pick<Pipeline, "clear">;
  /** What hides the values that an execution was given. */
  readonly maskerOf: (at: Address) => Promise<Masker | null>;
}

/** How long a check of arguments may take: a schema can be made that takes for ever. */
const checkMs = 10_000;

export function executionCallEditor({ runtime, plans, pipeline, maskerOf }: CallEditorOptions): CallEditor {
  return async ({ tenant, owner, invocationId, tool, arguments: given }) => {
    const at = { kind: execution.kind, key: owner.key, tenant };
    const [plan, state] = await Promise.all([plans.of(at), runtime.of(execution).at(tenant, owner.key).read()]);
    const { counted_for } = state?.header ?? {};
    const work = {
      execution_id: owner.key,
      iteration: state?.iteration.number ?? 1,
      ...(counted_for === undefined ? {} : { counted_for }),
    };
    const call = {
      tenant,
      entry: "dispatch" as const,
      tool,
      arguments: given,
      idempotencyKey: invocationId,
      invocationId,
      ...callerOf(work, plan),
      requestId: null,
      signal: AbortSignal.timeout(checkMs),
    };
    // As it will be judged once it is approved: by today's policy, and in no rate.
    const [judged] = await pipeline.clear([call], true);
    if (judged === undefined) throw new Error("the call was not judged");
    if (isCleared(judged)) return { fits: true, arguments: shownArguments(given, await maskerOf(at)) };
    const { clearance } = judged;
    const found = clearance.is === "failed" ? (clearance.issues ?? []).map(issueOf) : [];
    const whole: Issue = { path: "arguments", message: clearance.message, code: clearance.code };
    return { fits: false, issues: found.length > 0 ? found : [whole] };
  };
}

const issueOf = ({ path, message, code }: { readonly [member: string]: Json }): Issue => ({
  path: String(path ?? "arguments"),
  message: String(message ?? "does not fit"),
  code: typeof code === "string" ? code : "invalid",
});
