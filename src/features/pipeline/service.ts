/** The pipeline of tool calls, put together. */
import type { Incidents } from "../incidents/port.ts";
import type { InvocationWriter } from "../invocations/port.ts";
import type { Limiter } from "../limits/port.ts";
import type { CallCounters, ContextReader } from "../security-contexts/port.ts";
import type { ToolRegistry } from "../tools/port.ts";
import { clearCalls } from "./clear.ts";
import { effectiveTools } from "./effective.ts";
import { createInvoke } from "./invoke.ts";
import type { Call, HostRoute, JudgeCall, MaskerOf, Pipeline, PipelineService } from "./port.ts";
import { runCall } from "./run.ts";

export interface PipelineOptions {
  readonly registry: ToolRegistry;
  readonly contexts: Pick<ContextReader, "bindings">;
  readonly counters: Pick<CallCounters, "debit" | "acquire">;
  readonly limiter: Pick<Limiter, "debit">;
  readonly incidents: Pick<Incidents, "report">;
  readonly invocations: InvocationWriter;
  /** Unix ms. */
  readonly now: () => number;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export function createPipeline(options: PipelineOptions): PipelineService {
  const { registry, contexts, counters, limiter, incidents, invocations, now, warn } = options;
  let route: HostRoute | null = null;
  const hosts = (): HostRoute => {
    if (route === null) throw new Error("no feature knows the way to hosts");
    return route;
  };
  const maskers: MaskerOf[] = [];
  const judges: JudgeCall[] = [];
  const maskerOf: MaskerOf = async (tenant, executionId) => {
    for (const known of maskers) {
      const masker = await known(tenant, executionId);
      if (masker !== null) return masker;
    }
    return null;
  };
  const judge: JudgeCall = async (call, cleared) => {
    for (const one of judges) {
      const said = await one(call, cleared);
      if (said.is !== "unasked") return said;
    }
    return { is: "unasked" };
  };
  const running = {
    registry,
    hosts: {
      call: (...asked) => hosts().call(...asked),
      cancel: (...asked) => hosts().cancel(...asked),
    } satisfies HostRoute,
    counters,
    maskerOf,
    async judgeAgain(call: Call) {
      const [judged] = await clear([call], true);
      if (judged === undefined) throw new Error("a call was not judged");
      return judged;
    },
    now,
    warn: (tool: string, error: unknown) => warn("tool_failed", { tool, error: String(error) }),
  };
  const clear: Pipeline["clear"] = (calls, again = false) =>
    clearCalls({ registry, contexts, counters, limiter }, calls, again);
  const run: Pipeline["run"] = (call, cleared, waits = false) => runCall(running, call, cleared, waits);
  return {
    clear,
    run,
    ...createInvoke({ clear, run, judge, cancelOnHost: running.hosts.cancel, invocations, incidents, maskerOf, now }),
    async effective(tenant, who, policy) {
      const [set, bindings] = await Promise.all([
        registry.of(tenant),
        contexts.bindings(tenant, policy.context, policy.ceilings),
      ]);
      return effectiveTools(set, who, policy, bindings);
    },
    hiddenBy: (known) => void maskers.push(known),
    judgedBy: (one) => void judges.push(one),
    hostsBy: (one) => {
      route = one;
    },
  };
}
