/** Tool calls outside of an agent's loop that wait for people (docs/reference/tools.md). */
import { execution } from "../../../actors/execution/execution.ts";
import { toolCallProtocol } from "../../../actors/tool-call/messages.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { approvals } from "../approvals/feature.ts";
import { shownArguments } from "../approvals/port.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { invocations } from "../invocations/feature.ts";
import { pipeline } from "../pipeline/feature.ts";
import { tools } from "../tools/feature.ts";
import { waitingActivities } from "./activities.ts";
import { exported } from "./exported.ts";
import { waitingProjection, waitingRecords } from "./records.ts";
import { createWaitingCalls, editorOf, type GrantsOf, type ShowArguments } from "./service.ts";
import { startWaitingSweep } from "./sweep.ts";
import { invocationTool } from "./tool.ts";

/** Whether a session is at an end. */
export type IsSessionOver = (tenant: string, sessionId: string) => Promise<boolean>;

export const waitingCalls = defineFeature({
  name: "waiting-calls",
  exported,
  tenantTables: ["waiting_calls"],
  needs: { approvals, executions, invocations, pipeline, tools },
  open({ sql, runtime, starters, mail, warn }, { approvals, executions, invocations, pipeline, tools }) {
    const records = waitingRecords(sql);
    const sessions: IsSessionOver[] = [];
    const isSessionOver: IsSessionOver = async (tenant, sessionId) => {
      const said = await Promise.all(sessions.map((isOver) => isOver(tenant, sessionId)));
      return said.some((isOver) => isOver);
    };
    const show: ShowArguments = async (tenant, executionId, given) => {
      const key = executionId;
      return shownArguments(
        given,
        key === null ? null : await executions.maskerOf({ kind: execution.kind, key, tenant }),
      );
    };
    const granted: GrantsOf = async (tenant, { execution: own, principal, sessionId }) => {
      if (own === null) return records.grantsOf(tenant, principal, sessionId);
      return (await runtime.of(execution).at(tenant, own.id).read())?.remembered ?? [];
    };
    const service = createWaitingCalls({
      ...{ runtime, records, show, granted },
      asked: approvals.askedCalls,
      waitingOf: (tenant, id) => approvals.waitingCalls(tenant, id, 0),
      addressOf: starters.addressOf,
      mails: mail !== null,
    });
    approvals.editedBy(toolCallProtocol.kind, editorOf({ runtime, show }, pipeline, starters));
    return {
      service: {
        ...service,
        /** Registers who knows of sessions whether they are at an end. */
        sessionsBy: (isOver: IsSessionOver): void => void sessions.push(isOver),
      },
      actors: [toolCall],
      activities: () =>
        waitingActivities({
          ...{ runtime, pipeline, registry: tools, invocations, starters, show, granted, isSessionOver },
        }),
      projections: [waitingProjection],
      toolProviders: [invocationTool(service)],
      sweeps: [() => startWaitingSweep({ runtime, records, isSessionOver, warn })],
      queues: [{ name: "waiting_calls", depth: service.reading }],
      endWork: service.withdrawTenant,
      erase: service.eraseTenant,
    };
  },
});
