/** Stored credentials that images of commands are pulled with, taken when a container is launched. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { registryCredential } from "../../../../../actors/workflow/manifest/references.ts";
import type { CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import { LaunchFailure, type RegistryLogin } from "../../../../adapters/sandbox/port.ts";
import { Secret } from "../../../../lib/secret.ts";
import type { Address } from "../../../../runtime/port.ts";
import type { References } from "../../../references/port.ts";
import { type CommandSecretsOptions, workflowUse } from "./secrets.ts";

export interface RegistryLoginsOptions {
  readonly references: Pick<References, "take">;
  readonly headerOf: CommandSecretsOptions["headerOf"];
}

/** What the registry of a command's image is asked with; null: nothing. */
export type RegistryLogins = (run: Address, work: CommandRun) => Promise<RegistryLogin | null>;

/**
 * The credential is on record before its value leaves, once for each run.
 * The function throws Problem 422 `credential_not_found` or `credential_not_granted` for what cannot be used any more and
 * 503 where a store is away; LaunchFailure `registry_credentials_invalid` for a value that holds no name and password.
 */
export function registryLogins({ references, headerOf }: RegistryLoginsOptions): RegistryLogins {
  return async (run, { registry_credentials: id = null, state_name, workflow_name: workflow }) => {
    const [placed] = registryCredential(id, `spec.states.${state_name}`);
    if (placed === undefined) return null;
    const header = await headerOf(run);
    if (header === null) throw new Problem("workflow_execution_not_found", "The run was removed");
    const { tenant, key: executionId } = run;
    // Whose the workflow is decides about secrets only.
    const use = workflowUse({ tenant, executionId, owner: tenant }, { workflow, initiatedBy: header.initiated_by });
    const taken = (await references.take(use, [placed])).get(placed.reference.text);
    const login = taken === undefined ? null : readLogin(taken.value);
    if (login === null) {
      throw new LaunchFailure(
        "registry_credentials_invalid",
        'A credential for a registry is name:password, or {"username": …, "password": …}',
      );
    }
    return { holder: `${run.tenant} ${id}`, ...login };
  };
}

/** `name:password`, or JSON with `username` and `password`; null for anything else. */
export function readLogin(value: Secret): Pick<RegistryLogin, "username" | "password"> | null {
  const text = value.reveal().trim();
  const [username, password] = text.startsWith("{") ? jsonLogin(text) : pairLogin(text);
  if (typeof username !== "string" || typeof password !== "string") return null;
  if (username === "" || password === "" || username.includes(":")) return null;
  return { username: new Secret(username), password: new Secret(password) };
}

function pairLogin(text: string): readonly unknown[] {
  const colon = text.indexOf(":");
  return colon < 0 ? [] : [text.slice(0, colon), text.slice(colon + 1)];
}

function jsonLogin(text: string): readonly unknown[] {
  try {
    const { username, password } = JSON.parse(text) as { username?: unknown; password?: unknown };
    return [username, password];
  } catch {
    return [];
  }
}
