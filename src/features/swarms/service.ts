/** What is asked of swarms beside their lists, and their end with their tenant. */
import { Problem } from "../../../actors/kernel/problem.ts";
import { statusOf, swarm } from "../../../actors/swarm/swarm.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { Executions } from "../executions/port.ts";
import type { SwarmReading } from "./reading.ts";

export interface SwarmsOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly executions: Pick<Executions, "find">;
}

export function createSwarms({ runtime, executions }: SwarmsOptions) {
  return {
    async isDissolved(tenant: string, id: string): Promise<boolean> {
      const state = await runtime.of(swarm).at(tenant, id).read();
      return state !== null && statusOf(state) === "dissolved";
    },

    /** The swarm that an execution founded or is of, as far as its record is there. */
    async swarmOf(tenant: string, executionId: string): Promise<string | null> {
      try {
        return (await executions.find(tenant, executionId)).state.header.hierarchy.swarm_id;
      } catch (error) {
        if (error instanceof Problem && error.code === "execution_not_found") return null;
        throw error;
      }
    },
  };
}

/** Swarms erased at once. */
const atOnce = 64;
/** Of one round; what is left is for the next one. */
const mostPortions = 100;

/** Repeatable. @returns whether nothing of the tenant is left */
export async function eraseSwarms(
  { runtime, reading }: Pick<SwarmsOptions, "runtime"> & { readonly reading: Pick<SwarmReading, "ofTenant"> },
  tenant: string,
): Promise<boolean> {
  for (let portion = 0; portion < mostPortions; portion++) {
    const ids = await reading.ofTenant(tenant, atOnce);
    if (ids.length === 0) return true;
    await Promise.all(ids.map((id) => runtime.of(swarm).at(tenant, id).ask("erase", {}, { repeatable: true })));
  }
  return false;
}
