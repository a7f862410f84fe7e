/** The way that every call of a tool goes: what policy says of it, who is asked, how it runs, what is put on record. */
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { invocations } from "../invocations/feature.ts";
import { limits } from "../limits/feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { tools } from "../tools/feature.ts";
import { clearCalls } from "./clear.ts";
import { effectiveTools } from "./effective.ts";
import { createInvoke, type JudgeCall } from "./invoke.ts";
import type { Pipeline } from "./port.ts";
import { type MaskerOf, runCall } from "./run.ts";

export interface PipelineService extends Pipeline {
  /** Registers who knows what an execution was given that is secret. */
  hiddenBy(known: MaskerOf): void;
  /** Registers who asks the tool judges of an execution. */
  judgedBy(judge: JudgeCall): void;
}

export const pipeline = defineFeature({
  name: "pipeline",
  needs: { tools, limits, securityContexts, incidents, invocations },
  open({ now, warn }, { tools: registry, limits, securityContexts, incidents, invocations }) {
    const maskers: MaskerOf[] = [];
    const judges: JudgeCall[] = [];
    const { counters } = securityContexts;
    const maskerOf: MaskerOf = async (tenant, executionId) => {
      for (const known of maskers) {
        const masker = await known(tenant, executionId);
        if (masker !== null) return masker;
      }
      return null;
    };
    const judge: JudgeCall = async (call, cleared) => {
      for (const one of judges) {
        const against = await one(call, cleared);
        if (against !== null) return against;
      }
      return null;
    };
    const running = {
      registry,
      counters,
      maskerOf,
      now,
      warn: (tool: string, error: unknown) => warn("tool_failed", { tool, error: String(error) }),
    };
    const clear: Pipeline["clear"] = (calls, again = false) =>
      clearCalls({ registry, contexts: securityContexts, counters, limiter: limits }, calls, again);
    const run: Pipeline["run"] = (call, cleared, waits = false) => runCall(running, call, cleared, waits);
    const service: PipelineService = {
      clear,
      run,
      ...createInvoke({ clear, run, judge, invocations, incidents, maskerOf, now }),
      async effective(tenant, who, policy) {
        const [set, bindings] = await Promise.all([
          registry.of(tenant),
          securityContexts.bindings(tenant, policy.context, policy.ceilings),
        ]);
        return effectiveTools(set, who, policy, bindings);
      },
      hiddenBy: (known) => void maskers.push(known),
      judgedBy: (one) => void judges.push(one),
    };
    return { service };
  },
});
