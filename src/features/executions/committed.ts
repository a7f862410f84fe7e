/**
 * What follows from events that this node commits to executions: metrics of their work, and security incidents of
 * refused tool calls. A hint of the runtime, given once for each commit; after a crash it may be missing.
 */
import { Counter, Histogram, type Metric } from "prom-client";
import { type EventFields, type EventName, eventName, readEvent } from "../../../actors/execution/events.ts";
import { execution } from "../../../actors/execution/execution.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { News } from "../../runtime/port.ts";
import type { Category, Incidents } from "../incidents/port.ts";
import type { ToolRegistry } from "../tools/port.ts";

export interface CommittedOptions {
  readonly incidents: Pick<Incidents, "report">;
  /** A model writes any name. */
  readonly tools: Pick<ToolRegistry, "of">;
}

/** Refusals for a rate or a concurrency limit: the agent may try again. */
const attemptedCodes: readonly Json[] = [2005, 2008];
const longestDetail = 300;

const endings: Readonly<Partial<Record<EventName, string>>> = {
  execution_completed: "completed",
  execution_failed: "failed",
  execution_cancelled: "cancelled",
  execution_timed_out: "timed_out",
};

function categoryOf(code: Json, errorCode: Json): Category {
  if (code === "address_blocked") return "ssrf_blocked";
  return attemptedCodes.includes(errorCode) ? "policy_violation_attempted" : "policy_violation_blocked";
}

export function createCommitted({ incidents, tools }: CommittedOptions) {
  const registers: [] = [];
  const toolCalls = new Counter({
    name: "svc_tool_calls_total",
    help: "Tool calls of agents that ended, by how; tools of tool servers are counted as mcp, those that do not exist as unknown",
    labelNames: ["tool", "status"],
    registers,
  });
  const toolDurations = new Histogram({
    name: "svc_tool_call_duration_seconds",
    help: "Time from the start of a tool call to its end",
    labelNames: ["tool"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800],
    registers,
  });
  const ended = new Counter({
    name: "svc_executions_ended_total",
    help: "Executions that ended, by status",
    labelNames: ["status"],
    registers,
  });
  const durations = new Histogram({
    name: "svc_execution_duration_seconds",
    help: "Time of executions from their first slot to their end",
    labelNames: ["status"],
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 21_600],
    registers,
  });

  async function callEnded(
    tenant: string,
    { tool_name, status, duration_ms }: EventFields<"tool_call_completed">,
  ): Promise<void> {
    const found = (await tools.of(tenant)).find(tool_name);
    // Tenants name their servers and these their tools: labels are bounded.
    const tool = found?.source === "mcp" ? "mcp" : (found?.name ?? "unknown");
    toolCalls.inc({ tool, status });
    toolDurations.observe({ tool }, duration_ms / 1000);
  }

  function refused(at: News, fields: EventFields<"policy_violation">, agentId: string | null): void {
    const { tool_name, violation_type } = fields;
    const details = (fields.details ?? {}) as { readonly [member: string]: Json };
    const { code = null, error_code = null, attempted = null, entry, security_context, context_version } = details;
    // What did not come from the loop is reported by the pipeline that it went through.
    if (entry !== undefined) return;
    incidents.report({
      category: categoryOf(code, error_code),
      tenant: at.tenant,
      agentId,
      executionId: at.key,
      sessionId: null,
      toolName: tool_name.slice(0, longestDetail).toWellFormed(),
      violationType: violation_type,
      details: {
        code,
        error_code,
        attempted: typeof attempted === "string" ? attempted.slice(0, longestDetail).toWellFormed() : null,
        ...(typeof security_context === "string" ? { security_context } : {}),
        ...(typeof context_version === "number" ? { context_version } : {}),
      },
    });
  }

  function committed(at: News, entry: Json): void {
    const name = eventName(entry);
    const status = Object.hasOwn(endings, name) ? endings[name as EventName] : undefined;
    if (status === undefined && name !== "tool_call_completed" && name !== "policy_violation") return;
    const event = readEvent(entry);
    if (event === null) return;
    if (event.name === "tool_call_completed") void callEnded(at.tenant, event.fields).catch(() => {});
    else if (event.name === "policy_violation") {
      const { agent_id } = event.fields as { readonly agent_id?: unknown };
      refused(at, event.fields, typeof agent_id === "string" ? agent_id : null);
    } else if (status !== undefined) {
      ended.inc({ status });
      const { _took_ms } = event.fields as { readonly _took_ms?: unknown };
      if (typeof _took_ms === "number") durations.observe({ status }, _took_ms / 1000);
    }
  }

  const metrics: readonly Metric[] = [toolCalls, toolDurations, ended, durations];
  return {
    metrics,
    /** Never throws for events of another version. */
    announced(news: readonly News[]): void {
      for (const one of news) {
        if (one.kind !== execution.kind) continue;
        for (const { entry } of one.entries) committed(one, entry);
      }
    },
  };
}
