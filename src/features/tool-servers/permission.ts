/** Who may define which server, and use what in it. */
import { type Identity, isPlatformOperator, systemTenant } from "../../../actors/identity/identity.ts";
import { type Issue, invalid, Problem } from "../../../actors/kernel/problem.ts";
import { definitionIssues, readSource, type ServerDefinition } from "../../../actors/tool-server/definition.ts";
import type { ServerCredentials } from "../credentials/port.ts";
import type { ServerRow } from "./records.ts";

/** Whose secrets and credentials a server uses. */
export const ownerOf = ({ tenant }: Pick<ServerRow, "tenant">): string => tenant ?? systemTenant;

const operatorRequired = (message: string) => new Problem("operator_required", message);

/** @throws Problem 403 `operator_required` for a server of all tenants */
export function requireManaged(identity: Identity, { tenant }: Pick<ServerRow, "tenant">): void {
  if (tenant !== null || isPlatformOperator(identity)) return;
  throw operatorRequired("Servers of all tenants are changed by operators");
}

/**
 * A program runs where the service does: only operators say which.
 * @param before null: it is new @param switches whether `enabled` is all that the request changes
 * @throws Problem 403 `operator_required`
 */
export function requireTransport(
  identity: Identity,
  before: ServerDefinition | null,
  after: ServerDefinition,
  switches: boolean,
): void {
  if (isPlatformOperator(identity)) return;
  if (after.transport !== "stdio" && before?.transport !== "stdio") return;
  if (before === null || !switches) throw operatorRequired("Servers with the transport stdio are defined by operators");
}

/** @throws Problem 422 `validation_failed` */
export function requireSound(definition: ServerDefinition): void {
  const issues = definitionIssues(definition).map((issue) => ({ ...issue, code: "invalid" }));
  if (issues.length > 0) throw invalid("validation_failed", "The definition of the server is not valid", issues);
}

/**
 * Every reference has to be open to the caller, those that were there before too.
 * @throws Problem 403 `operator_required`; 422 `secret_forbidden`, `credential_forbidden` with `issues`
 */
export async function requireReferences(
  identity: Identity,
  server: Pick<ServerRow, "tenant" | "definition">,
  credentials: Pick<ServerCredentials, "mayUse">,
): Promise<void> {
  const issues: (Issue & { readonly code: "secret_forbidden" | "credential_forbidden" })[] = [];
  for (const [name, text] of Object.entries(server.definition.credentials)) {
    const source = readSource(text);
    if (typeof source === "string") continue;
    const path = `credentials.${name}`;
    if (source.kind === "env" && !isPlatformOperator(identity)) {
      throw operatorRequired("Variables of the service's environment are handed over by operators");
    }
    if (source.kind === "secret" && !identity.scopes.has("secret:read")) {
      issues.push({
        path,
        code: "secret_forbidden",
        message: `${source.text}: the caller lacks the scope secret:read`,
      });
    }
    if (source.kind === "credential" && !(await credentials.mayUse(identity, ownerOf(server), source.by.id))) {
      const message = `${source.text}: it is neither one of the tenant nor one of the caller's own`;
      issues.push({ path, code: "credential_forbidden", message });
    }
  }
  const [first] = issues;
  if (first !== undefined) {
    throw new Problem(first.code, "The server refers to what the caller may not use", { issues }, {}, 422);
  }
}
