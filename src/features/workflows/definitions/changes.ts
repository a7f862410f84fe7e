/** What happens to a workflow beside its manifests: its removal, and the tenant that it belongs to. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import { secretsOf } from "../../../../actors/workflow/manifest/secrets.ts";
import { isUuid } from "../../../http/route.ts";
import type { Transaction } from "../../../store/postgres/pool.ts";
import { requireGivenContexts } from "./contexts.ts";
import { deployerOf } from "./deployer.ts";
import { type Caller, globalForbidden, mayPublish, type WorkflowParts, workflowNotFound } from "./parts.ts";
import { ownerOf, type Reference, scopeOf, tenantOf, type WorkflowRow } from "./records.ts";
import type { Deleted, Scope, ScopeChanged, WorkflowDetail } from "./schema.ts";

/** Running executions named in a refusal to delete. */
const namedRuns = 100;

/** How a workflow is found and shown to a tenant. */
export interface Shown {
  /** @throws Problem 404 `workflow_not_found` */
  find(tenant: string, reference: Reference): Promise<WorkflowRow>;
  /** @throws Problem 404 `workflow_not_found` */
  detailOf(tenant: string, reference: Reference): Promise<WorkflowDetail>;
}

/** Removing workflows and moving them between tenants, each with its entry in the audit log. */
export function changing(parts: WorkflowParts, { find, detailOf }: Shown) {
  const { sql, records, now, newId } = parts;

  return {
    /**
     * Removes one version, or every version of the name; records of ended runs stay.
     * @throws Problem 404 `workflow_not_found`, 403 `global_scope_forbidden`, 409 `workflow_in_use`
     */
    async remove(caller: Caller, reference: Reference, force: boolean): Promise<Deleted> {
      const found = await find(caller.tenant, reference);
      if (scopeOf(found.tenant) === "global" && !mayPublish(caller)) throw globalForbidden();
      const onlyOne = isUuid(reference.ref) || reference.version !== null;
      const removed = await sql.begin(async (tx) => {
        const held = await records.hold(tx, found.tenant, found.name);
        const gone = onlyOne ? held.filter(({ workflow_id }) => workflow_id === found.workflow_id) : [...held];
        if (gone.length === 0) throw workflowNotFound();
        const ids = gone.map(({ workflow_id }) => workflow_id);
        const running = await parts.unfinishedRuns(ids, namedRuns);
        if (running.length > 0 && !force) throw inUse(running);
        await records.remove(tx, ids);
        await parts.follower.changed(tx, { owner: found.tenant, name: found.name });
        for (const { workflow_id, version } of gone)
          await note(tx, caller, "WorkflowRemoved", found, workflow_id, version);
        await record(tx, caller, "deleted", found.name, gone, [tenantOf(found.tenant)], {});
        return gone;
      });
      await parts.follower.committed({ owner: found.tenant, name: found.name });
      if (force)
        await parts.cancelRuns(
          removed.map(({ workflow_id }) => workflow_id),
          "workflow_deleted",
        );
      return {
        status: "deleted",
        success: true,
        name: found.name,
        deleted_versions: removed.map(({ version }) => version),
      };
    },

    /**
     * Makes every version of a name global, or moves it to the caller's tenant; ids stay.
     * @throws Problem 404 `workflow_not_found`, 403 `global_scope_forbidden`, 409 `workflow_name_taken`, 422
     *   `secret_forbidden`, `security_context_forbidden`, `unknown_security_context`
     */
    async setScope(caller: Caller, reference: Reference, scope: Scope): Promise<ScopeChanged> {
      const found = await find(caller.tenant, reference);
      const previous = scopeOf(found.tenant);
      if (previous !== scope) {
        if (!mayPublish(caller)) throw globalForbidden();
        await move(caller, found, ownerOf(caller.tenant, scope));
      }
      const shown = await detailOf(caller.tenant, { ref: found.workflow_id, version: null });
      return { ...shown, previous_scope: previous, new_scope: scope, changed: previous !== scope, success: true };
    },
  };

  async function move(caller: Caller, { tenant: from, name }: WorkflowRow, to: string): Promise<void> {
    if (from === to) return;
    await sql.begin(async (tx) => {
      // Always in the same order, so that two moves cannot wait for each other.
      const sides = new Map<string, Awaited<ReturnType<typeof records.hold>>>();
      for (const owner of [from, to].sort()) sides.set(owner, await records.hold(tx, owner, name));
      const taken = sides.get(to)?.[0];
      if (taken !== undefined) {
        throw new Problem("workflow_name_taken", `There is a workflow ${name} already`, {
          existing_id: taken.workflow_id,
        });
      }
      const moved = sides.get(from) ?? [];
      if (moved.length === 0) throw workflowNotFound();
      const ids = moved.map(({ workflow_id }) => workflow_id);
      // Who moves them answers for what they can see afterwards, as who registers them does.
      const placed = (await records.referring(tx, ids)).flatMap((definition) => secretsOf(JSON.parse(definition)));
      await parts.references.requireAllowed(caller.identity, tenantOf(to), placed);
      await requireGivenContexts(parts, caller, to, await records.contextsNamed(tx, ids));
      await records.give(tx, ids, to, deployerOf(caller));
      await parts.follower.changed(tx, { owner: to, name, from });
      await parts.follower.changed(tx, { owner: from, name });
      for (const { workflow_id, version } of moved) {
        await note(tx, caller, "WorkflowScopeChanged", { tenant: to, name }, workflow_id, version, {
          from: tenantOf(from),
          to: tenantOf(to),
        });
      }
      const scopes = { previous_scope: scopeOf(from), new_scope: scopeOf(to) };
      await record(tx, caller, "published", name, moved, [tenantOf(from), tenantOf(to)], scopes);
    });
    await Promise.all([from, to].map((owner) => parts.follower.committed({ owner, name })));
  }

  /** In the transaction of the change, an entry for each version in each tenant that it concerns. */
  function record(
    tx: Transaction,
    { by }: Caller,
    verb: "deleted" | "published",
    name: string,
    versions: readonly { readonly workflow_id: string; readonly version: string }[],
    tenants: readonly string[],
    details: Record<string, string>,
  ): Promise<void> {
    const entries = versions.flatMap(({ workflow_id: id, version }) =>
      [...new Set(tenants)].map((tenant) => ({
        tenant,
        action: `workflow.${verb}`,
        target: { type: "workflow", id },
        details: { name, version, ...details },
      })),
    );
    return parts.audit.append(tx, by, ...entries);
  }

  function note(
    tx: Parameters<typeof records.note>[0],
    { identity, by }: Caller,
    type: "WorkflowScopeChanged" | "WorkflowRemoved",
    { tenant, name }: Pick<WorkflowRow, "tenant" | "name">,
    workflowId: string,
    version: string,
    details: Record<string, string> = {},
  ): Promise<void> {
    const actor = { kind: identity.kind, sub: identity.userId };
    return records.note(
      tx,
      { type, tenant: tenantOf(tenant), workflowId, name, version, actor, requestId: by.request_id, details },
      newId(),
      new Date(now()),
    );
  }
}

function inUse(executionIds: readonly string[]): Problem {
  return new Problem("workflow_in_use", "Executions of this workflow are running; force=true cancels them", {
    execution_ids: executionIds,
  });
}
