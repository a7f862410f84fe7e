/** What images of commands are pulled with, taken when a container is launched. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { placedRegistryCredentials } from "../../../../../actors/manifest/images/registry-credentials.ts";
import type { CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import { type RegistryLogin, registryLogin } from "../../../../adapters/sandbox/port.ts";
import type { Address } from "../../../../runtime/port.ts";
import type { References } from "../../../references/port.ts";
import { runOf } from "../items/run-of.ts";
import { type CommandSecretsOptions, workflowUse } from "./secrets.ts";

export interface RegistryLoginsOptions {
  readonly references: Pick<References, "take">;
  readonly headerOf: CommandSecretsOptions["headerOf"];
}

/** What the registry of a command's image is asked with; null: nothing. */
export type RegistryLogins = (run: Address, work: CommandRun) => Promise<RegistryLogin | null>;

/**
 * What is used is on record before its value leaves, once for each run.
 * The function throws Problem 422 `credential_not_found`, `credential_not_granted`, `secret_not_found` or `secret_forbidden`
 * for what cannot be used any more and 503 where a store is away; LaunchFailure `registry_credentials_invalid` for a value that holds no name and password.
 */
export function registryLogins({ references, headerOf }: RegistryLoginsOptions): RegistryLogins {
  return async (run, { registry_credentials: named = null, state_name, workflow_name: workflow }) => {
    const [placed] = placedRegistryCredentials(named, `spec.states.${state_name}`);
    if (placed === undefined) return null;
    const header = await headerOf(run);
    if (header === null) throw new Problem("workflow_execution_not_found", "The run was removed");
    const { tenant } = run;
    const { executionId } = runOf(run, header);
    // Where a definition of all tenants refers to a secret, no run of it began in another tenant.
    const use = workflowUse({ tenant, executionId, owner: tenant }, { workflow, initiatedBy: header.initiated_by });
    const taken = await references.take(use, [placed]);
    return registryLogin(tenant, placed.reference, taken.get(placed.reference.text));
  };
}
