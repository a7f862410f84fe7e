/** What an execution's environment refers to: taken when an instance is launched, hidden in all that comes back. */
import { LRUCache } from "lru-cache";
import type { Header, Plan } from "../../../../actors/execution/start/plan.ts";
import { referringFacts } from "../../../../actors/execution/start/plan-start.ts";
import type { StartRequest } from "../../../../actors/execution/start/request.ts";
import type { SettledAgent } from "../../../../actors/execution/start/settle.ts";
import { placedRegistryCredentials } from "../../../../actors/manifest/images/registry-credentials.ts";
import { referencesIn } from "../../../../actors/manifest/references.ts";
import { type RegistryLogin, registryLogin } from "../../../adapters/sandbox/port.ts";
import { Masker } from "../../../lib/masking/masker.ts";
import type { Address } from "../../../runtime/port.ts";
import type { References, ReferenceUse, ResolvedReference } from "../../references/port.ts";
import type { Plans } from "../plans.ts";

/** Executions whose hidden values are known to this node, and characters of these, their other forms included. */
const keptExecutions = 4096;
const keptCharacters = 32 * 1024 * 1024;

/** Between clocks, ms. */
const clockDifferenceMs = 5_000;

type Facts = NonNullable<Plan["references"]>;

/** The use that a start is decided by. */
export function agentUse(
  executionId: string,
  request: Pick<StartRequest, "tenant" | "origin">,
  agent: Pick<SettledAgent, "agent_id" | "tenant" | "deployed">,
): ReferenceUse {
  const workflow = request.origin.workflow?.name ?? null;
  return useOf(
    { tenant: request.tenant, executionId, agentId: agent.agent_id, workflow },
    referringFacts(request, agent),
  );
}

function useOf(
  of: {
    readonly tenant: string;
    readonly executionId: string;
    readonly agentId: string;
    readonly workflow: string | null;
  },
  { tenant, deployed, initiator }: Facts,
): ReferenceUse {
  return {
    tenant: of.tenant,
    definition: {
      kind: "agent",
      id: of.agentId,
      tenant,
      deployed: { realm: deployed.realm, userId: deployed.user_id, at: new Date(deployed.at) },
    },
    initiator: initiator === null ? null : { realm: initiator.realm, userId: initiator.user_id },
    workflow: of.workflow,
    executionId: of.executionId,
  };
}

export type ExecutionReferences = ReturnType<typeof createExecutionReferences>;

export interface ExecutionReferencesOptions {
  readonly references: Pick<References, "take" | "look">;
  readonly plans: Plans;
  /** What the execution's state says of it; null: it is gone. */
  readonly headerOf: (execution: Address) => Promise<Pick<Header, "agent_id" | "workflow_name"> | null>;
}

export function createExecutionReferences({ references, plans, headerOf }: ExecutionReferencesOptions) {
  /** By execution; null: it refers to nothing, so that nothing is to be hidden. */
  const maskers = new LRUCache<string, { readonly masker: Masker | null }>({
    max: keptExecutions,
    maxSize: keptCharacters,
    sizeCalculation: ({ masker }) => 64 + (masker?.weight ?? 0),
  });

  function learn(key: string, resolved: ReadonlyMap<string, ResolvedReference>): Masker {
    const masker = maskers.get(key)?.masker ?? new Masker();
    masker.hide([...resolved.values()].flatMap(({ hidden }) => hidden.map((value) => value.reveal())));
    maskers.set(key, { masker });
    return masker;
  }

  const placed = ({ env }: Plan) => referencesIn(env, "spec.env");

  /** The plan and the use of an execution that refers to something; `gone` for one that was erased. */
  async function referring(execution: Address): Promise<{ plan: Plan; use: ReferenceUse } | "nothing" | "gone"> {
    const plan = await plans.of(execution).catch(async (error: unknown) => {
      if ((await headerOf(execution)) === null) return null;
      throw error;
    });
    if (plan === null) return "gone";
    if (plan.references === undefined) return "nothing";
    const header = await headerOf(execution);
    if (header === null) return "gone";
    const of = { agentId: header.agent_id, workflow: header.workflow_name };
    return { plan, use: useOf({ tenant: execution.tenant, executionId: execution.key, ...of }, plan.references) };
  }

  return {
    /**
     * The environment with the values that its references mean now, on record before they leave; they are hidden from then on.
     * @throws Problem 422 for what cannot be used any more, 503 where a store is away
     */
    async environmentOf(
      { key, tenant }: Address,
      plan: Plan,
      { agent_id: agentId, workflow_name: workflow }: Pick<Header, "agent_id" | "workflow_name">,
    ): Promise<Readonly<Record<string, string>>> {
      if (plan.references === undefined) return plan.env;
      const use = useOf({ tenant, executionId: key, agentId, workflow }, plan.references);
      const found = placed(plan);
      const resolved = await references.take(use, found);
      learn(key, resolved);
      const values = found.map(({ path, reference }) => {
        const value = resolved.get(reference.text);
        return [path.slice("spec.env.".length), value?.value.reveal() ?? ""] as const;
      });
      return { ...plan.env, ...Object.fromEntries(values) };
    },

    /**
     * What the registry of its image is asked with, on record before it leaves; null: nothing. No instance sees it.
     * @throws Problem 422 for what cannot be used any more, 503 where a store is away; LaunchFailure
     *   `registry_credentials_invalid`
     */
    async registryLoginOf(
      { key, tenant }: Address,
      plan: Plan,
      { agent_id: agentId, workflow_name: workflow }: Pick<Header, "agent_id" | "workflow_name">,
    ): Promise<RegistryLogin | null> {
      const [placed] = placedRegistryCredentials(plan.registry_credentials ?? null, "spec.runtime");
      if (placed === undefined || plan.references === undefined) return null;
      const use = useOf({ tenant, executionId: key, agentId, workflow }, plan.references);
      const taken = await references.take(use, [placed]);
      return registryLogin(tenant, placed.reference, taken.get(placed.reference.text));
    },

    /**
     * What hides the values that the execution was given; null: it was given none.
     * On a node that did not launch the instance it is made of what the references mean now.
     * @throws Problem 503 where a store is away: until it is back nothing can be shown
     */
    async maskerOf(execution: Address): Promise<Masker | null> {
      const known = maskers.get(execution.key);
      if (known !== undefined) return known.masker;
      const found = await referring(execution);
      if (found === "nothing") maskers.set(execution.key, { masker: null });
      if (found === "nothing" || found === "gone") return null;
      return learn(execution.key, await references.look(found.use, placed(found.plan)));
    },

    /**
     * Whether what an instance was given is known here, so that it can be hidden: this node launched it, or everything
     * that it refers to is there and was not written since.
     * @param since when it was launched at the earliest, Unix ms; null: unknown
     */
    async knows(execution: Address, since: number | null): Promise<boolean> {
      if (maskers.has(execution.key)) return true;
      const found = await referring(execution);
      if (found === "nothing" || found === "gone") return true;
      const resolved = await references.look(found.use, placed(found.plan));
      return placed(found.plan).every(({ reference }) => {
        const changedAt = resolved.get(reference.text)?.changedAt ?? Number.POSITIVE_INFINITY;
        // The clocks of two nodes, or of a vault, may differ a little.
        return since !== null && changedAt < since - clockDifferenceMs;
      });
    },
  };
}
