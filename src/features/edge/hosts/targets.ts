/** Hosts as commands are aimed at them: which ones a selector means, and whether each can be reached now. */
import type { LabelTerm, Selector, TagTerm } from "../../../../actors/edge/selector.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

export interface TargetHost {
  readonly id: string;
  readonly name: string;
  readonly status: "connected" | "unhealthy" | "disconnected";
  /** Whether it takes new commands. */
  readonly accepting: boolean;
}

/** Hosts `h` that a selector means. @param selector null selects nothing */
export function matching(sql: Sql, selector: Selector | null) {
  const tagTerm = (term: TagTerm) => {
    if ("Has" in term) return sql`h.tags @> ${texts([term.Has])}::text[]`;
    if ("AnyOf" in term) return sql`h.tags && ${texts(term.AnyOf)}::text[]`;
    if ("AllOf" in term) return sql`h.tags @> ${texts(term.AllOf)}::text[]`;
    return sql`not h.tags && ${texts(term.NoneOf)}::text[]`;
  };
  const labelTerm = (term: LabelTerm) => {
    if ("Exists" in term) return sql`h.labels ->> ${term.Exists} is not null`;
    const parts =
      "Equals" in term
        ? Object.entries(term.Equals).map(([key, value]) => sql`h.labels ->> ${key} = ${value}`)
        : Object.entries(term.In).map(([key, values]) => sql`h.labels ->> ${key} = any(${texts(values)}::text[])`);
    return parts.reduce((all, one) => sql`${all} and ${one}`);
  };
  if (selector === null) return sql`false`;
  const { os, arch, tools, labels, tags } = selector;
  return [
    ...(os === null ? [] : [sql`h.os = ${os}`]),
    ...(arch === null ? [] : [sql`h.arch = ${arch}`]),
    ...(tools.length === 0 ? [] : [sql`h.tools @> ${texts(tools)}::text[]`]),
    ...labels.map(labelTerm),
    ...tags.map(tagTerm),
  ].reduce((all, one) => sql`${all} and ${one}`, sql`true`);
}

/** What is read of a host `h` for a command. */
const targetColumns = (sql: Sql) =>
  sql`h.id, h.name, h.status, (not h.held and cardinality(h.not_accepting) = 0) as accepting`;

export function hostTargets(sql: Sql) {
  const read = (
    tenant: string,
    condition: ReturnType<typeof matching>,
    limit: number,
  ): Promise<readonly TargetHost[]> =>
    sql<TargetHost[]>`
      select ${targetColumns(sql)} from edge_hosts h
      where h.tenant = ${tenant} and h.revoked_at is null and (${condition}) order by h.name, h.id limit ${limit}`;
  return {
    /** Live hosts that the selector means, by name. */
    selected: (tenant: string, selector: Selector, limit: number) => read(tenant, matching(sql, selector), limit),

    /** Those of the ids that are live hosts, by name. */
    named: (tenant: string, ids: readonly string[]) =>
      read(tenant, sql`h.id = any(${texts(ids)}::uuid[])`, Math.max(1, ids.length)),

    /** Live hosts that a group's selector means or that are pinned in it, by name. */
    ofGroup: (
      tenant: string,
      { id, selector }: { readonly id: string; readonly selector: Selector | null },
      limit: number,
    ) =>
      read(
        tenant,
        sql`(${matching(sql, selector)}) or h.id in (select host_id from edge_group_pins where group_id = ${id})`,
        limit,
      ),
  };
}
export type HostTargets = ReturnType<typeof hostTargets>;
