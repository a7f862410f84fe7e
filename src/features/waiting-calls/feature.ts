/** Tool calls outside of an agent's loop that wait for people (docs/reference/tools.md). */
import { execution } from "../../../actors/execution/execution.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { toolCallProtocol } from "../../../actors/tool-call/messages.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { approvals } from "../approvals/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { invocations } from "../invocations/feature.ts";
import { pipeline } from "../pipeline/feature.ts";
import { tools } from "../tools/feature.ts";
import { waitingActivities } from "./activities.ts";
import { waitingProjection, waitingRecords } from "./records.ts";
import { argumentsShown, createWaitingCalls, editorOf, type ShowArguments } from "./service.ts";
import { startWaitingSweep } from "./sweep.ts";
import { invocationTool } from "./tool.ts";

/** Whether a session is at an end. */
export type IsSessionOver = (tenant: string, sessionId: string) => Promise<boolean>;

export const waitingCalls = defineFeature({
  name: "waiting-calls",
  tenantTables: ["waiting_calls"],
  needs: { approvals, executions, invocations, pipeline, tools },
  open({ sql, runtime, starters, warn }, { approvals, executions, invocations, pipeline, tools }) {
    const records = waitingRecords(sql);
    const sessions: IsSessionOver[] = [];
    const isSessionOver: IsSessionOver = async (tenant, sessionId) => {
      const said = await Promise.all(sessions.map((isOver) => isOver(tenant, sessionId)));
      return said.some((isOver) => isOver);
    };
    const show: ShowArguments = async (tenant, executionId, given) => {
      if (executionId === null) return argumentsShown(given, given);
      const masker = await executions.maskerOf({ kind: execution.kind, key: executionId, tenant });
      const redacted: Json = masker === null ? given : masker.maskJson(given);
      return argumentsShown(given, isObject(redacted) ? redacted : {});
    };
    const service = createWaitingCalls({ runtime, records, show, asked: approvals.askedCalls });
    approvals.editedBy(toolCallProtocol.kind, editorOf({ runtime, show }, pipeline, starters));
    return {
      service: {
        ...service,
        /** Registers who knows of sessions whether they are at an end. */
        sessionsBy: (isOver: IsSessionOver): void => void sessions.push(isOver),
      },
      actors: [toolCall],
      activities: () =>
        waitingActivities({ runtime, pipeline, registry: tools, invocations, starters, show, isSessionOver }),
      projections: [waitingProjection],
      toolProviders: [invocationTool(service)],
      sweeps: [() => startWaitingSweep({ runtime, records, isSessionOver, warn })],
      queues: [{ name: "waiting_calls", depth: service.reading }],
      endWork: service.withdrawTenant,
    };
  },
});
