/** What can be done with workflow definitions. Routes, runs and management tools all come through here. */
import { type List, listOf, type Page, readLabels } from "../../../http/paging.ts";
import { changing } from "./changes.ts";
import { differences } from "./difference.ts";
import { type WorkflowParts, type WorkflowsOptions, workflowNotFound } from "./parts.ts";
import { globalOwner, type Offered, type OfferedRow, ownerOf, type Reference, workflowRecords } from "./records.ts";
import { registering } from "./register.ts";
import { resolving } from "./resolving.ts";
import type { WorkflowDetail, WorkflowElement, WorkflowFilter } from "./schema.ts";
import { versionElement, workflowDetail, workflowElement } from "./wire.ts";

export type Workflows = ReturnType<typeof createWorkflows>;

export function createWorkflows(options: WorkflowsOptions) {
  const records = workflowRecords(options.sql);
  const parts: WorkflowParts = { ...options, records };

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

  return {
    ...resolving(records),
    ...registering(parts),
    ...changing(parts, { find, detailOf }),
    ...differences(records),

    /** By name; the latest version of each unless all are wanted. */
    async list(tenant: string, filter: WorkflowFilter, page: Page): Promise<List<"workflows", WorkflowElement>> {
      const rows = await records.list(
        {
          owners: ownersOf(tenant, filter),
          labels: readLabels(filter.label),
          tag: filter.tag ?? null,
          text: filter.q ?? null,
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

    /** The workflows that names mean in the tenant, by name. */
    offered: async (tenant: string, which: Offered, limit: number): Promise<OfferedRow[]> =>
      records.offered(tenant, which, limit),

    registeredByOthers: records.registeredByOthers,

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
  };
}

function ownersOf(tenant: string, { scope, visible = false }: WorkflowFilter): readonly string[] {
  if (scope === "global") return [globalOwner];
  return scope === undefined && visible ? [tenant, globalOwner] : [tenant];
}
