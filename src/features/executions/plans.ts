/** The plans of executions: written once at the start, read by every activity of the execution. */

import { Value } from "@sinclair/typebox/value";
import { LRUCache } from "lru-cache";
import { execution } from "../../../actors/execution/execution.ts";
import { implicitWorkspace } from "../../../actors/execution/start/mounts.ts";
import { Plan, planLog } from "../../../actors/execution/start/plan.ts";
import { completePlan } from "../../../actors/execution/stored-state.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { jsonWeight } from "../../lib/json-weight.ts";
import type { Address, Runtime } from "../../runtime/port.ts";

/** Plans kept in memory; an execution reads its own several times in short order. */
const capacity = 64;
/** Characters of their texts, about; a larger plan is read each time. */
const keptCharacters = 32 * 1024 * 1024;

export interface Plans {
  /** @throws Error when the execution has no plan: it was erased, or never started */
  of(execution: Address): Promise<Plan>;
}

export interface KeptPlans extends Plans {
  /** Keeps a plan that was just written, for it is about to be read. */
  keep(execution: Address, plan: Plan): void;
}

export function createPlans(runtime: Pick<Runtime, "of">): KeptPlans {
  const kept = new LRUCache<string, Plan>({
    max: capacity,
    maxSize: keptCharacters,
    sizeCalculation: (plan) => Math.max(1, jsonWeight(plan as Json)),
  });
  const keep = ({ key }: Address, plan: Plan): void => void kept.set(key, plan);
  return {
    keep,
    of: async (address) => {
      const known = kept.get(address.key);
      if (known) return known;
      const [first] = await runtime.of(execution).at(address.tenant, address.key).log(planLog, 0, 1);
      if (!first) throw new Error(`execution ${address.key} has no plan`);
      // An earlier version may have written it.
      const plan = Value.Parse(Plan, completePlan(first.entry, implicitWorkspace(address.key)));
      keep(address, plan);
      return plan;
    },
  };
}
