/** Tools that start, follow and end runs. Each does what its route does. */

import { Type } from "@sinclair/typebox";
import { starterOf } from "../../../../../actors/identity/starter.ts";
import { isOwnSubject } from "../../../../../actors/identity/tenant.ts";
import { AnyJson } from "../../../../../actors/kernel/json.ts";
import { rateUserOf } from "../../../../../actors/policy/rates/limits.ts";
import type { Initiator } from "../../../../../actors/workflow/run/state.ts";
import { pageOf, pagingQuery } from "../../../../http/paging.ts";
import type { Approvals } from "../../../approvals/port.ts";
import { auditedAgent } from "../../../audit/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../../../management-tools/port.ts";
import { initiatorOf, readFilter, readReason, readSignal, readStart } from "../request.ts";
import type { Runs } from "../service.ts";
import { signals } from "../signals.ts";

export interface RunToolOptions {
  readonly runs: Runs;
  readonly approvals: Pick<Approvals, "signal" | "lastDecision">;
}

const Id = { execution_id: Type.String({ format: "uuid" }) };
const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const Found = Type.Object(Id);

export function runTools({ runs, approvals }: RunToolOptions): readonly ManagementTool[] {
  const send = signals({ runs, approvals });
  const find = ({ tenant }: ToolCaller, { execution_id }: { readonly execution_id: string }) =>
    runs.find(tenant, execution_id.toLowerCase());
  return [
    defineTool({
      name: "svc.workflow.run",
      effect: "repeatable",
      aliases: ["svc.workflow.execute"],
      description: "Start an execution of a workflow",
      scope: "workflow:run",
      arguments: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 256, description: "Name or id of the workflow" }),
        input: Type.Optional(AnyJson),
        blackboard: Type.Optional(AnyJson),
        intent: Type.Optional(Type.String()),
        version: text(256),
        attachments: Type.Optional(Type.Array(AnyJson)),
      }),
      call: (caller, { name, ...body }) => {
        const request = readStart(caller, name, body, {});
        const { ceilings } = caller;
        return runs.startAs(caller.workId, false, { ...request, ceilings, initiatedBy: initiatedBy(caller) });
      },
    }),
    defineTool({
      name: "svc.workflow.status",
      effect: "reads",
      aliases: ["svc.workflow.executions.get"],
      description: "The record of a workflow execution",
      scope: "workflow:read",
      arguments: Found,
      call: ({ tenant }, { execution_id }) => runs.record(tenant, execution_id.toLowerCase()),
    }),
    defineTool({
      name: "svc.workflow.executions.list",
      effect: "reads",
      description: "Executions of workflows, newest first",
      scope: "workflow:list",
      arguments: Type.Object({
        ...pagingQuery,
        workflow_name: text(256),
        workflow_id: text(256),
        status: text(200),
        parent_execution_id: Type.Optional(Type.String({ format: "uuid" })),
      }),
      call: ({ tenant }, given) => runs.list(tenant, readFilter(given), pageOf(given, 2)),
    }),
    defineTool({
      name: "svc.workflow.logs",
      effect: "reads",
      description: "A page of the log of a workflow execution, oldest first",
      scope: "workflow:read",
      arguments: Type.Object({
        ...Id,
        limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
        offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }),
      }),
      call: async (caller, given) => runs.logs(await find(caller, given), given.limit, given.offset),
    }),
    defineTool({
      name: "svc.workflow.signal",
      description:
        "Tell a workflow execution what it waits for by a name, or answer its approval, where the state lets agents answer",
      scope: "workflow:signal",
      arguments: Type.Object({
        ...Id,
        response: Type.Optional(Type.String()),
        signal_name: text(256),
        payload: Type.Optional(AnyJson),
      }),
      call: async (caller, { execution_id: _, ...given }) => {
        const signal = readSignal(given);
        const source = { http_request_id: caller.requestId, ip: null, user_agent: null };
        const signaller = { by: agentOf(caller), source, workId: caller.workId };
        return send(await find(caller, { execution_id: _ }), signal, signaller);
      },
    }),
    defineTool({
      name: "svc.workflow.cancel",
      effect: "repeatable",
      description: "Cancel a workflow execution with everything it has under way",
      scope: "workflow:cancel",
      arguments: Type.Object({
        ...Id,
        reason: Type.Optional(Type.String()),
        compensate: Type.Optional(
          Type.Boolean({ description: "Undo what was done, also where `compensate_on` does not list it" }),
        ),
      }),
      call: async (caller, { reason, compensate = false, ...given }) =>
        runs.cancel(await find(caller, given), readReason(reason), compensate),
    }),
    ...(["pause", "resume"] as const).map((action) =>
      defineTool({
        name: `svc.workflow.${action}`,
        effect: "repeatable",
        description:
          action === "pause" ? "Let a workflow execution enter no further state" : "Let a paused execution go on",
        scope: "workflow:cancel",
        arguments: Found,
        call: async (caller, given) => runs[action](await find(caller, given)),
      }),
    ),
    defineTool({
      name: "svc.workflow.retry",
      effect: "repeatable",
      description: "Start anew where a failed, cancelled or timed-out execution ended",
      scope: "workflow:run",
      arguments: Type.Object({ ...Id, from_state: text(256) }),
      call: async (caller, { execution_id, from_state = null }) => {
        const { tenant, identity, ceilings, workId } = caller;
        const request = {
          tenant,
          fromState: from_state,
          starter: identity,
          startedBy: starterOf(identity),
          ceilings,
          countedFor: rateUserOf(identity),
          initiatedBy: initiatedBy(caller),
        };
        const { started } = await runs.retryAs(workId, false, execution_id.toLowerCase(), request);
        const { forked_from: _, ...retried } = started;
        return retried;
      },
    }),
    defineTool({
      name: "svc.workflow.remove",
      effect: "repeatable",
      description: "Cancel a workflow execution if need be, and remove it with its log",
      scope: "workflow:cancel",
      arguments: Found,
      call: async (caller, given) => runs.erase(await find(caller, given), auditedAgent(caller)),
    }),
  ];
}

/** Who a run says started it: an agent or a workflow, where one did. */
export function initiatedBy({ identity, executionId, who }: ToolCaller): Initiator {
  const initiator = initiatorOf(identity);
  if (who?.run !== undefined) return { ...initiator, kind: "workflow" };
  return executionId === null ? initiator : { ...initiator, kind: "agent" };
}

/** Behind a tool call, an agent decides: states that want a person refuse it. */
function agentOf({ identity, tenant }: ToolCaller) {
  const { userId: sub, realm } = identity;
  return { sub, own_realm: isOwnSubject(identity, tenant), kind: "agent", realm, email: null, roles: [] };
}
