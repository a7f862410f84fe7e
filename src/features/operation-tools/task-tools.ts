/** Tools that start, follow and end executions of agents. Each does what its route does. */
import { Type } from "@sinclair/typebox";
import type { StartRequest } from "../../../actors/execution/start/request.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { starterOf } from "../../../actors/identity/starter.ts";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { rateUserOf } from "../../../actors/policy/rates/limits.ts";
import { pageOf, pagingQuery } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import { auditedAgent } from "../audit/port.ts";
import type { Executions } from "../executions/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../management-tools/port.ts";
import { ToolFailure } from "../tools/port.ts";
import { originOf } from "./origin.ts";
import { waitTool } from "./task-wait.ts";

export interface TaskToolOptions {
  readonly executions: Pick<
    Executions,
    "find" | "joinable" | "list" | "record" | "events" | "cancel" | "erase" | "startAs" | "adopt" | "untilOver"
  >;
}

const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const ExecutionId = { execution_id: Type.String({ format: "uuid" }) };
const Found = Type.Object(ExecutionId);

export function taskTools({ executions }: TaskToolOptions): readonly ManagementTool[] {
  const find = ({ tenant }: ToolCaller, { execution_id }: { readonly execution_id: string }) =>
    executions.find(tenant, execution_id.toLowerCase());

  return [
    defineTool({
      name: "svc.task.execute",
      effect: "repeatable",
      description: "Start an execution of an agent; it ends with the one that starts it",
      scope: "agent:execute",
      arguments: Type.Object({
        agent_id: Type.String({ minLength: 1, maxLength: 256, description: "UUID or name of the agent" }),
        input: Type.Optional(AnyJson),
        intent: Type.Optional(Type.String({ maxLength: 10_000 })),
        version: text(64),
        attachments: Type.Array(AnyJson, { maxItems: 32, default: [] }),
      }),
      call: async (caller, { agent_id, input = "", intent = null, version = null, attachments }) => {
        const { tenant, identity, ceilings, workId, executionId } = caller;
        const request: StartRequest = {
          ...(isUuid(agent_id) ? { agentId: agent_id.toLowerCase() } : { agentName: agent_id }),
          tenant,
          origin: await originOf(executions, caller),
          starter: identity,
          startedBy: starterOf(identity),
          ceilings,
          countedFor: rateUserOf(identity),
          input,
          intent,
          version,
          attachments,
        };
        const started = await executions.startAs(workId, false, request);
        if (executionId !== null) await executions.adopt(tenant, executionId, started);
        return started;
      },
    }),
    defineTool({
      name: "svc.task.list",
      effect: "reads",
      description: "Executions of agents, newest first",
      scope: "execution:list",
      arguments: Type.Object({
        ...pagingQuery,
        agent_id: Type.Optional(Type.String({ format: "uuid" })),
        status: text(200),
        workflow_name: text(256),
        workflow_execution_id: Type.Optional(Type.String({ format: "uuid" })),
        parent_execution_id: Type.Optional(Type.String({ format: "uuid" })),
        label: Type.Optional(Type.Array(Type.String({ maxLength: 400 }), { maxItems: 16, description: "key=value" })),
      }),
      call: ({ tenant }, given) => executions.list(tenant, given, pageOf(given, 2)),
    }),
    defineTool({
      name: "svc.task.status",
      effect: "reads",
      description: "The record of an execution",
      scope: "execution:read",
      arguments: Found,
      call: async (caller, given) => executions.record(await find(caller, given), false, 0, caller.signal),
    }),
    defineTool({
      name: "svc.task.logs",
      effect: "reads",
      description: "A page of the events of an execution, oldest first",
      scope: "execution:stream",
      arguments: Type.Object({
        ...ExecutionId,
        limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
        offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }),
      }),
      call: async (caller, given) => executions.events(await find(caller, given), given.limit, given.offset),
    }),
    defineTool({
      name: "svc.task.cancel",
      effect: "repeatable",
      description: "Cancel an execution with what it has started",
      scope: "execution:cancel",
      arguments: Type.Object({ ...ExecutionId, reason: text(1000) }),
      call: async (caller, given) => executions.cancel(await find(caller, given), given.reason ?? null),
    }),
    defineTool({
      name: "svc.task.remove",
      effect: "repeatable",
      description: "Cancel an execution if need be, and remove it with its events and files",
      scope: "execution:remove",
      arguments: Found,
      call: async (caller, given) => {
        const found = await find(caller, given);
        if (found.at.key === caller.executionId && !isOver(found.state)) {
          throw new ToolFailure("invalid_state", "An execution cannot remove itself");
        }
        return executions.erase(found, auditedAgent(caller));
      },
    }),
    waitTool({ executions }),
  ];
}
