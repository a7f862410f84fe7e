/** What can be done with groups: sets of hosts by what they are, and by name. */
import { readSelector, type Selector } from "../../../../actors/edge/selector.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { type List, listOf, type Page } from "../../../http/paging.ts";
import type { Call } from "../../../http/route.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import { hostName as nameWithoutBlanks } from "../hosts/port.ts";
import type { GroupRecords, GroupRow } from "./records.ts";
import type { EdgeGroup, EdgeGroupDetail, GroupChange, NewGroup } from "./schema.ts";

type Caller = Pick<Call, "identity" | "tenant" | "request" | "requestId" | "address">;

const maxGroups = 500;

export interface GroupsOptions {
  readonly sql: Sql;
  readonly records: GroupRecords;
  readonly audit: Pick<Audit, "append">;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export type Groups = ReturnType<typeof createGroups>;

export function createGroups({ sql, records, audit, info }: GroupsOptions) {
  /** @throws Problem 404 `group_not_found` */
  function found(row: GroupRow | null): GroupRow {
    if (row === null) throw new Problem("group_not_found", "Group not found");
    return row;
  }

  /** @throws Problem 422 for a member that is no live host of the tenant */
  async function pin(tx: Transaction, tenant: string, groupId: string, hosts: readonly string[]): Promise<void> {
    const ids = [...new Set(hosts.map((id) => id.toLowerCase()))];
    const live = await records.liveHosts(tx, tenant, ids);
    const unknown = hosts.findIndex((id) => !live.has(id.toLowerCase()));
    if (unknown >= 0) throw invalidField(`pinned_members.${unknown}`, "is no host of the tenant", "unknown");
    await records.pin(tx, groupId, ids);
  }

  async function told(tx: Transaction, caller: Caller, verb: "created" | "updated" | "deleted", id: string) {
    await audit.append(tx, auditedBy(caller), {
      tenant: caller.tenant,
      action: `edge.group_${verb}`,
      target: { type: "edge_group", id },
      details: {},
    });
  }

  async function body(row: GroupRow): Promise<EdgeGroup> {
    return groupBody(row, (await records.countMembers([row])).get(row.id) ?? 0);
  }

  return {
    async list(tenant: string, page: Page): Promise<List<"groups", EdgeGroup>> {
      const rows = await records.list(tenant, page);
      const shown = rows.slice(0, page.limit);
      const counts = await records.countMembers(shown);
      const items = rows.map((row) => groupBody(row, counts.get(row.id) ?? 0));
      return listOf("groups", items, page, ({ name, id }) => [name, id]);
    },

    /** @throws Problem 404 `group_not_found` */
    async one(tenant: string, id: string): Promise<EdgeGroupDetail> {
      const row = found(await records.find(tenant, id));
      const members = await records.members(row);
      return {
        ...groupBody(row, members.length),
        resolved_members: members.map(({ id: node_id, name, status }) => ({ node_id, name, status })),
      };
    },

    /**
     * @param id of the piece of work: with the same one it is the same group
     * @throws Problem 402 `quota_exceeded`, 409 `conflict`, 422
     */
    async create(caller: Caller, id: string, { name, selector, pinned_members }: NewGroup): Promise<EdgeGroup> {
      const { tenant, identity } = caller;
      const group = { id, tenant, name: nameWithoutBlanks(name), selector: selectorOf(selector) };
      const known = await records.find(tenant, id);
      if (known !== null) return body(known);
      await sql.begin(async (tx) => {
        if ((await records.count(tx, tenant)) >= maxGroups) throw tooMany();
        const created_by = `${identity.realm}/${identity.userId}`;
        if (!(await records.insert(tx, { ...group, created_by }))) throw conflict();
        await pin(tx, tenant, id, pinned_members ?? []);
        await told(tx, caller, "created", id);
      });
      info("edge_group_created", { tenant, group_id: id });
      return body(found(await records.find(tenant, id)));
    },

    /** @throws Problem 404 `group_not_found`, 409 `conflict`, 422 */
    async update(caller: Caller, id: string, { name, selector, pinned_members }: GroupChange): Promise<EdgeGroup> {
      const { tenant } = caller;
      const given = {
        ...(name === undefined ? {} : { name: nameWithoutBlanks(name) }),
        ...(selector === undefined ? {} : { selector: selectorOf(selector) }),
      };
      await sql.begin(async (tx) => {
        const row = found(await records.lock(tx, tenant, id));
        await records.count(tx, tenant);
        if (!(await records.change(tx, { ...row, ...given }))) throw conflict();
        if (pinned_members !== undefined) await pin(tx, tenant, id, pinned_members);
        await told(tx, caller, "updated", id);
      });
      info("edge_group_updated", { tenant, group_id: id });
      return body(found(await records.find(tenant, id)));
    },

    /** @throws Problem 404 `group_not_found` */
    async remove(caller: Caller, id: string): Promise<void> {
      const { tenant } = caller;
      await sql.begin(async (tx) => {
        if (!(await records.remove(tx, tenant, id))) throw new Problem("group_not_found", "Group not found");
        await told(tx, caller, "deleted", id);
      });
      info("edge_group_deleted", { tenant, group_id: id });
    },
  };
}

/** @throws Problem 422 */
const selectorOf = (written: unknown): Selector | null =>
  written === undefined || written === null ? null : readSelector(written, "selector");

function groupBody(row: GroupRow, members: number): EdgeGroup {
  return {
    id: row.id,
    group_id: row.id,
    name: row.name,
    tenant_id: row.tenant,
    selector: row.selector,
    pinned_members: [...row.pinned],
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    resolved_member_count: members,
  };
}

const conflict = () => new Problem("conflict", "A group of the tenant has this name");
const tooMany = () =>
  new Problem("quota_exceeded", `A tenant has at most ${maxGroups} groups`, { quota: "edge_groups", limit: maxGroups });
