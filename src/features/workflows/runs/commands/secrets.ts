/** What a command's environment refers to: taken when it is launched, hidden in what it tells. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { type PlacedReference, referencesIn } from "../../../../../actors/manifest/references.ts";
import type { CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import type { RunHeader } from "../../../../../actors/workflow/run/state.ts";
import { Masker } from "../../../../lib/masking/masker.ts";
import type { Address } from "../../../../runtime/port.ts";
import type { References, ReferenceUse, ResolvedReference } from "../../../references/port.ts";
import { runOf } from "../items/run-of.ts";

/** Kinds of initiators that are no person or machine with an identity. */
const impersonal: readonly string[] = ["agent", "webhook", "workflow"];
/** Between the clocks of two nodes, or of a vault, ms. */
const clockDifferenceMs = 5_000;

/** @param owner whose the workflow is */
export function workflowUse(
  { tenant, executionId, owner }: { readonly tenant: string; readonly executionId: string; readonly owner: string },
  { workflow, initiatedBy }: { readonly workflow: string; readonly initiatedBy: RunHeader["initiated_by"] },
): ReferenceUse {
  const { kind, sub, realm = null } = initiatedBy;
  return {
    tenant,
    definition: { kind: "workflow", id: workflow, tenant: owner, deployed: null },
    initiator: impersonal.includes(kind) ? null : { realm, userId: sub },
    workflow,
    executionId,
  };
}

export interface CommandSecretsOptions {
  readonly references: Pick<References, "take" | "look">;
  /** What the run's state says of it; null: it is gone. */
  readonly headerOf: (run: Address) => Promise<Pick<RunHeader, "initiated_by" | "batch"> | null>;
}

/** The environment of one command, and what hides the values in it; null: there are none. */
export interface CommandEnvironment {
  readonly env: Readonly<Record<string, string>>;
  readonly masker: Masker | null;
}

export type CommandSecrets = ReturnType<typeof commandSecrets>;

export function commandSecrets({ references, headerOf }: CommandSecretsOptions) {
  async function useOf({ workflow_name: workflow }: CommandRun, { tenant, key }: Address) {
    const header = await headerOf({ kind: "workflow_run", key, tenant });
    if (header === null) throw new Problem("workflow_execution_not_found", "The run was removed");
    const { executionId } = runOf({ key }, header);
    // Where a definition of all tenants refers to a secret, no run of it began in another tenant.
    return workflowUse({ tenant, executionId, owner: tenant }, { workflow, initiatedBy: header.initiated_by });
  }

  return {
    /**
     * The environment with the values that its references mean now, on record before they leave.
     * @throws Problem 422 for what cannot be used any more, 503 where a store is away
     */
    async take(work: CommandRun, run: Address): Promise<CommandEnvironment> {
      const placed = placedIn(work);
      if (placed.length === 0) return { env: work.env, masker: null };
      const resolved = await references.take(await useOf(work, run), placed);
      const values = placed.map(({ path, reference }) => {
        return [path.slice(1), resolved.get(reference.text)?.value.reveal() ?? ""] as const;
      });
      return { env: { ...work.env, ...Object.fromEntries(values) }, masker: maskerOf(resolved) };
    },

    /**
     * What hides the values of a command that was launched before, by this node or another.
     * @param since when it was launched, Unix ms
     * @returns `unknown` where a value was written since: nothing can hide the one that the command has
     */
    async look(work: CommandRun, run: Address, since: number): Promise<Masker | null | "unknown"> {
      const placed = placedIn(work);
      if (placed.length === 0) return null;
      const resolved = await references.look(await useOf(work, run), placed);
      const isKnown = placed.every(({ reference }) => {
        return (resolved.get(reference.text)?.changedAt ?? Number.POSITIVE_INFINITY) < since - clockDifferenceMs;
      });
      return isKnown ? maskerOf(resolved) : "unknown";
    },
  };
}

/** Only what stood in the manifest as a reference is one; what a template made is not. */
function placedIn({ env, secrets = [] }: CommandRun): PlacedReference[] {
  return referencesIn(Object.fromEntries(secrets.map((name) => [name, env[name] ?? ""])), "");
}

function maskerOf(resolved: ReadonlyMap<string, ResolvedReference>): Masker {
  const masker = new Masker();
  masker.hide([...resolved.values()].flatMap(({ hidden }) => hidden.map((value) => value.reveal())));
  return masker;
}
