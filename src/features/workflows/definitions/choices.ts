/** Workflows to choose among: lean reads, for callers with many choices to make. */
import { isUuid } from "../../../http/route.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { globalOwner, type Reference, workflowRecords } from "./records.ts";

export interface WorkflowChoice {
  readonly workflow_id: string;
  /** A tenant, or `*` for what every tenant sees. */
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A choice that was named: by its UUID, which pins its version, or by its name, which means the latest. */
export interface ListedChoice extends WorkflowChoice {
  readonly pinned: boolean;
}

export type WorkflowChoices = ReturnType<typeof workflowChoices>;

export function workflowChoices(sql: Sql) {
  const records = workflowRecords(sql);
  const columns = sql`w.workflow_id, w.tenant as owner, w.name, w.description, w.labels`;

  return {
    /** The latest versions of the tenant's own workflows, by name. */
    async own(tenant: string, limit: number): Promise<readonly WorkflowChoice[]> {
      return sql<WorkflowChoice[]>`
        select ${columns} from workflows w where w.tenant = ${tenant}
          and not exists (select from workflows v where v.tenant = w.tenant and v.name = w.name
            and (v.version_order, v.created_at, v.workflow_id) > (w.version_order, w.created_at, w.workflow_id))
        order by w.name collate "C" limit ${limit}`;
    },

    /** Those of the named ones that the tenant sees, by name; under a name its own before a global one. */
    async listed(tenant: string, refs: readonly string[]): Promise<readonly ListedChoice[]> {
      const storable = refs.filter((ref) => !ref.includes("\0"));
      const ids = storable.filter(isUuid).map((id) => id.toLowerCase());
      const owners = texts([tenant, globalOwner]);
      return sql<ListedChoice[]>`
        select * from (
          select ${columns}, true as pinned from workflows w
            where w.workflow_id = any(${texts(ids)}::text[]::uuid[]) and w.tenant = any(${owners}::text[])
          union all
          select found.*, false as pinned from unnest(${texts([...new Set(storable)])}::text[]) as asked (name),
            lateral (select ${columns} from workflows w
              where w.name = asked.name and w.tenant = any(${owners}::text[])
              order by (w.tenant = ${tenant}) desc, w.version_order desc, w.created_at desc limit 1) as found
        ) as choices order by name collate "C", pinned, workflow_id`;
    },

    /** The workflow that a reference means to the tenant. */
    async find(
      tenant: string,
      { ref, version }: Reference,
    ): Promise<Omit<WorkflowChoice, "description" | "labels"> | null> {
      if (ref.includes("\0") || version?.includes("\0")) return null;
      const row = await records.locate(tenant, { ref, version: isUuid(ref) ? null : version });
      if (row === null || (version !== null && row.version !== version)) return null;
      return { workflow_id: row.workflow_id, owner: row.tenant, name: row.name };
    },
  };
}
