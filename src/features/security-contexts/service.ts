/** Security contexts as their owners have them: made, shown, replaced, deleted (docs/reference/security-contexts.md). */
import { isPlatformOperator, systemTenant } from "../../../actors/identity/identity.ts";
import { invalidField, invalidRequest, Problem } from "../../../actors/kernel/problem.ts";
import { isStorableJson } from "../../../actors/manifest/storable.ts";
import { isSystemName } from "../../../actors/policy/security/spec.ts";
import { systemContext, systemContexts } from "../../../actors/policy/security/system.ts";
import { capabilityIssues, specOf } from "../../../actors/policy/security/written.ts";
import type { Page } from "../../http/paging.ts";
import type { Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../audit/port.ts";
import type { ContextReader } from "./known.ts";
import { type ContextRecords, type ContextRow, holderOf, type NewContext } from "./records.ts";
import type { ContextBody, CreateBody, ReplaceBody } from "./schema.ts";

/** Who does it, as the audit log tells. */
export interface Caller extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
}

/** Whether a deployed agent names the context. @param tenant of the agents; null: any */
export type NamedByAgents = (tenant: string | null, name: string) => Promise<boolean>;

export type ContextService = ReturnType<typeof createContextService>;

export interface ContextServiceOptions {
  readonly records: ContextRecords;
  readonly contexts: Pick<ContextReader, "changed">;
  readonly audit: Audit;
  readonly namedByAgents: NamedByAgents;
  /** Unix ms. */
  readonly now: () => number;
}

/** Of one tenant; more are 402 `quota_exceeded`. */
const maxContexts = 1000;

export function createContextService({ records, contexts, audit, namedByAgents, now }: ContextServiceOptions) {
  const record = (tx: Transaction, caller: Caller, row: ContextRow, what: string, more = {}) =>
    audit.append(tx, auditedBy(caller), {
      tenant: row.tenant,
      action: `security_context.${what}`,
      target: { type: "security_context", id: row.name },
      details: { version: row.version, ...more },
    });

  async function find(tenant: string, name: string, tx?: Transaction): Promise<ContextRow> {
    const row =
      (tx === undefined ? await records.find(tenant, name) : await records.lock(tx, tenant, name)) ?? brought(name);
    if (row === null) throw contextNotFound();
    return row;
  }

  return {
    /** @throws Problem 404 `security_context_not_found` */
    find: async (tenant: string, name: string): Promise<ContextBody> => bodyOf(await find(tenant, name)),

    /** By name; one more than the page asks for when there are more. */
    async list(tenant: string, { limit, offset, after }: Page): Promise<ContextBody[]> {
      const [from = null] = after ?? [];
      const rows = await records.list(tenant, from, offset + limit + 1);
      const stored = new Set(rows.map(({ name }) => name));
      const others = systemContexts
        .map(([name]) => name)
        .filter((name) => !stored.has(name) && (from === null || name > from))
        .flatMap((name) => brought(name) ?? []);
      return [...rows, ...others]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .slice(offset, offset + limit + 1)
        .map(bodyOf);
    },

    /**
     * @param workId of the request: one that is repeated after a crash makes nothing more
     * @throws Problem 402 `quota_exceeded`, 403 `operator_required`, 409 `context_exists`, 422
     */
    async create(caller: Caller, workId: string, body: CreateBody): Promise<ContextBody> {
      const context = written(caller, body.name, body, new Date(now()));
      const holder = holderOf(caller.tenant, body.name);
      const row = await records.exclusively(holder, async (tx) => {
        const isBrought = systemContext(body.name) !== null && (await records.find(holder, body.name, tx)) === null;
        const made = isBrought ? null : await records.create(tx, caller.tenant, context, workId);
        if (made === null) throw contextExists(body.name);
        if (!made.isNew) return made.row;
        if ((await records.count(tx, holder)) > maxContexts) {
          throw new Problem("quota_exceeded", `A tenant has at most ${maxContexts} security contexts`);
        }
        await record(tx, caller, made.row, "created");
        return made.row;
      });
      contexts.changed(holder);
      return bodyOf(row);
    },

    /**
     * What would be stored; nothing is.
     * @param isNew whether there may be none of that name yet, else there has to be one
     * @throws Problem as `create` and `replace`, but for the quota and the condition
     */
    async foresee(caller: Caller, name: string, body: ReplaceBody, isNew: boolean): Promise<ContextBody> {
      if (body.name !== undefined && body.name !== name) throw invalidField("name", "must be the name in the path");
      const at = new Date(now());
      const context = written(caller, name, body, at);
      const holder = holderOf(caller.tenant, name);
      const row = (await records.find(caller.tenant, name)) ?? brought(name);
      if (isNew && row !== null) throw contextExists(name);
      if (!isNew && row === null) throw contextNotFound();
      const since = row === null || row.created_at.getTime() === 0 ? at : row.created_at;
      const version = (row?.version ?? 0) + 1;
      return bodyOf({ ...context, tenant: holder, version, created_at: since, updated_at: at });
    },

    /**
     * @param condition the only version that is replaced; null: any
     * @throws Problem 403 `operator_required`, 404, 412 `version_mismatch`, 422
     */
    async replace(
      caller: Caller,
      name: string,
      workId: string,
      body: ReplaceBody,
      condition: number | null,
    ): Promise<ContextBody> {
      if (body.name !== undefined && body.name !== name) throw invalidField("name", "must be the name in the path");
      const context = written(caller, name, body, new Date(now()));
      const holder = holderOf(caller.tenant, name);
      const row = await records.exclusively(holder, async (tx) => {
        const { version } = await find(caller.tenant, name, tx);
        if (condition !== null && condition !== version) throw versionMismatch(version);
        const replaced = await records.replace(tx, caller.tenant, context, version + 1, workId);
        await record(tx, caller, replaced, "updated");
        return replaced;
      });
      contexts.changed(holder);
      return bodyOf(row);
    },

    /** @throws Problem 403 `operator_required`, 404, 409 `context_in_use` */
    async remove(caller: Caller, name: string, force: boolean): Promise<void> {
      requireWriter(caller, name);
      const holder = holderOf(caller.tenant, name);
      await records.exclusively(holder, async (tx) => {
        const row = await find(caller.tenant, name, tx);
        if (systemContext(name) !== null) throw inUse("The service itself uses this security context");
        if (!force && (await namedByAgents(isSystemName(name) ? null : caller.tenant, name))) {
          throw inUse("A deployed agent names this security context; force=true deletes it all the same");
        }
        await records.remove(tx, caller.tenant, name);
        await record(tx, caller, row, "deleted", { force });
      });
      contexts.changed(holder);
    },
  };
}

/** What the caller writes, made uniform. @throws Problem 403 `operator_required`, 422 */
function written(caller: Caller, name: string, body: ReplaceBody, at: Date): NewContext {
  requireWriter(caller, name);
  const { description = null, capabilities = [], deny_list = [], usable_by = null } = body;
  const issues = capabilityIssues(capabilities);
  if (issues.length > 0) throw invalidRequest(issues.slice(0, 100));
  const spec = specOf(capabilities, deny_list);
  if (!isStorableJson({ description, spec, usable_by })) {
    throw invalidField("", "contains text that cannot be stored: a NUL character or half a surrogate pair");
  }
  return { name, description, spec, usable_by, updated_by: caller.identity.userId, at };
}

function requireWriter({ identity }: Caller, name: string): void {
  if (isSystemName(name) && !isPlatformOperator(identity)) {
    throw new Problem("operator_required", "Security contexts that begin with svc- are written by operators only");
  }
}

const contextNotFound = () => new Problem("security_context_not_found", "There is no such security context");
const contextExists = (name: string) => new Problem("context_exists", `There is a security context ${name} already`);
const inUse = (message: string) => new Problem("context_in_use", message);

export const versionMismatch = (version?: number) =>
  new Problem(
    "version_mismatch",
    version === undefined ? "The condition names no version" : `The security context is at version ${version}`,
  );

/** One that the service brings and no operator has written anew. */
function brought(name: string): ContextRow | null {
  const context = systemContext(name);
  if (context === null) return null;
  const { description, spec } = context;
  const never = new Date(0);
  return {
    tenant: systemTenant,
    name,
    description,
    spec,
    usable_by: null,
    version: 1,
    updated_by: null,
    created_at: never,
    updated_at: never,
  };
}

function bodyOf({ tenant, spec, created_at, updated_at, version, updated_by, ...row }: ContextRow): ContextBody {
  const time = (at: Date) => (at.getTime() === 0 ? null : at.toISOString());
  return {
    name: row.name,
    description: row.description,
    capabilities: spec.capabilities,
    deny_list: spec.deny_list,
    usable_by: row.usable_by === null ? null : [...row.usable_by],
    tenant_id: tenant,
    metadata: { created_at: time(created_at), updated_at: time(updated_at), version, updated_by },
  };
}
