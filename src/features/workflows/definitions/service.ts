/** What can be done with workflow definitions. Routes, runs and management tools all come through here. */

import { LRUCache } from "lru-cache";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import type { Definition } from "../../../../actors/workflow/definition.ts";
import type { ResolvedWorkflow } from "../../../../actors/workflow/run/start/request.ts";
import { type List, listOf, type Page, readLabels } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import type { Transaction } from "../../../store/postgres/pool.ts";
import {
  type Caller,
  globalForbidden,
  mayPublish,
  type WorkflowParts,
  type WorkflowsOptions,
  workflowNotFound,
} from "./parts.ts";
import type { Definitions, WorkflowLookup } from "./port.ts";
import {
  globalOwner,
  ownerOf,
  type Reference,
  scopeOf,
  tenantOf,
  type WorkflowRow,
  workflowRecords,
} from "./records.ts";
import { registering } from "./register.ts";
import type { Deleted, Scope, ScopeChanged, WorkflowDetail, WorkflowElement, WorkflowFilter } from "./schema.ts";
import { versionElement, workflowDetail, workflowElement } from "./wire.ts";

/** Running executions named in a refusal to delete. */
const namedRuns = 100;

/** Characters of the definitions kept parsed; a revision never changes, so that nothing kept goes stale. */
const keptCharacters = 16 * 1024 * 1024;

export type Workflows = ReturnType<typeof createWorkflows>;

export function createWorkflows(options: WorkflowsOptions) {
  const { sql, now, newId } = options;
  const records = workflowRecords(sql);
  const parts: WorkflowParts = { ...options, records };
  const cache = new LRUCache<string, Definition>({ maxSize: keptCharacters });

  /** @throws Problem 404 `workflow_not_found` */
  async function find(tenant: string, reference: Reference) {
    const row = await records.find(tenant, reference);
    if (row === null) throw workflowNotFound();
    return row;
  }

  async function detailOf(tenant: string, reference: Reference): Promise<WorkflowDetail> {
    const row = await find(tenant, reference);
    const counts = await options.countRuns(tenant, [row.workflow_id]);
    return workflowDetail(row, counts.get(row.workflow_id) ?? 0, tenant);
  }

  async function definitionOf({ workflow_id, revision }: { workflow_id: string; revision: string }) {
    const key = `${workflow_id}/${revision}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const text = await records.definition(workflow_id, revision);
    // Registered anew or removed between the two reads.
    if (text === null) return null;
    // Judged when it was registered.
    const definition = JSON.parse(text) as Definition;
    cache.set(key, definition, { size: text.length });
    return definition;
  }

  const definitions: Definitions = {
    async resolve({ tenant, ref, version }: WorkflowLookup): Promise<ResolvedWorkflow> {
      const rounds = 3;
      for (let round = 0; round < rounds; round++) {
        const row = await records.locate(tenant, { ref, version: isUuid(ref) ? null : version });
        if (row === null) throw workflowNotFound();
        if (version !== null && row.version !== version) throw versionMismatch(row.version);
        const definition = await definitionOf(row);
        if (definition === null) continue;
        return {
          workflow_id: row.workflow_id,
          name: row.name,
          version: row.version,
          owner: tenantOf(row.tenant),
          definition,
        };
      }
      throw new Problem("service_unavailable", "This workflow is being changed; try again", {}, { "Retry-After": "1" });
    },
  };

  return {
    ...definitions,
    ...registering(parts),

    /** By name; the latest version of each unless all are wanted. */
    async list(tenant: string, filter: WorkflowFilter, page: Page): Promise<List<"workflows", WorkflowElement>> {
      const rows = await records.list(
        {
          owners: ownersOf(tenant, filter),
          labels: readLabels(filter.label),
          tag: filter.tag ?? null,
          allVersions: filter.all_versions ?? false,
        },
        page,
      );
      const counts = await options.countRuns(
        tenant,
        rows.map(({ workflow_id }) => workflow_id),
      );
      const elements = rows.map((row): WorkflowElement => workflowElement(row, counts.get(row.workflow_id) ?? 0));
      return listOf("workflows", elements, page, ({ name, tenant_id, scope, version, id }) => [
        name,
        ownerOf(tenant_id, scope),
        version,
        id,
      ]);
    },

    /** @throws Problem 404 `workflow_not_found` */
    detail: detailOf,

    /** Newest first. @throws Problem 404 `workflow_not_found` */
    async versions(tenant: string, ref: string, page: Page) {
      const { tenant: owner, name } = await find(tenant, { ref, version: null });
      const offset = page.after === null ? page.offset : Number(page.after[0]);
      const rows = await records.versions(owner, name, {
        limit: page.limit + 1,
        offset: Number.isSafeInteger(offset) ? offset : 0,
      });
      const next = String((Number.isSafeInteger(offset) ? offset : 0) + page.limit);
      return listOf("versions", rows.map(versionElement), page, () => [next]);
    },

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
        const running = await options.unfinishedRuns(ids, namedRuns);
        if (running.length > 0 && !force) throw inUse(running);
        await records.remove(tx, ids);
        for (const { workflow_id, version } of gone)
          await note(tx, caller, "WorkflowRemoved", found, workflow_id, version);
        await record(tx, caller, "deleted", found.name, gone, [tenantOf(found.tenant)], {});
        return gone;
      });
      if (force)
        await options.cancelRuns(
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
     * @throws Problem 404 `workflow_not_found`, 403 `global_scope_forbidden`, 409 `workflow_name_taken`
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
      await records.give(
        tx,
        moved.map(({ workflow_id }) => workflow_id),
        to,
      );
      for (const { workflow_id, version } of moved) {
        await note(tx, caller, "WorkflowScopeChanged", { tenant: to, name }, workflow_id, version, {
          from: tenantOf(from),
          to: tenantOf(to),
        });
      }
      const scopes = { previous_scope: scopeOf(from), new_scope: scopeOf(to) };
      await record(tx, caller, "published", name, moved, [tenantOf(from), tenantOf(to)], scopes);
    });
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
    return options.audit.append(tx, by, ...entries);
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

function ownersOf(tenant: string, { scope, visible = false }: WorkflowFilter): readonly string[] {
  if (scope === "global") return [globalOwner];
  return scope === undefined && visible ? [tenant, globalOwner] : [tenant];
}

function inUse(executionIds: readonly string[]): Problem {
  return new Problem("workflow_in_use", "Executions of this workflow are running; force=true cancels them", {
    execution_ids: executionIds,
  });
}

function versionMismatch(pinned: string): Problem {
  return invalidField("version", `this id is version ${pinned}`);
}
