/** What can be done with hosts: admitting and rotating keys for their daemons; looking, naming, tagging, ending for people. */
import { nameOf } from "../../../../actors/edge/enrollment.ts";
import { changedTags, type TagChange } from "../../../../actors/edge/tags.ts";
import type { AuditedBy } from "../../../../actors/kernel/audit.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable, unusableText } from "../../../../actors/manifest/storable.ts";
import { edgeHostQuota } from "../../../../actors/policy/quota.ts";
import { type List, listOf, type Page } from "../../../http/paging.ts";
import type { Call } from "../../../http/route.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import type { HostFilter, HostRecords, HostRow } from "./records.ts";
import type { EdgeHost, HostChange } from "./schema.ts";

type Caller = Pick<Call, "identity" | "tenant" | "request" | "requestId" | "address">;

/** Every key is kept for ever: a daemon that makes one after another would fill the table. */
const maxKeysAnHour = 20;

/** A daemon that redeems a token. */
export interface Admission {
  readonly tenant: string;
  /** The 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The first one that is given counts. */
  readonly names: readonly (string | null | undefined)[];
  readonly tags: readonly string[];
  readonly createdBy: string;
  readonly agentVersion: string | null;
  readonly by: AuditedBy;
}

export interface HostsOptions {
  readonly sql: Sql;
  readonly records: HostRecords;
  readonly tenants: Pick<Tenants, "terms">;
  readonly audit: Pick<Audit, "append">;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export type Hosts = ReturnType<typeof createHosts>;

export function createHosts({ sql, records, tenants, audit, newId, info }: HostsOptions) {
  /** @throws Problem 404 `host_not_found` */
  function found(row: HostRow | null): HostRow {
    if (row === null) throw new Problem("host_not_found", "Host not found");
    return row;
  }

  const change = (
    caller: Caller,
    id: string,
    to: (row: HostRow) => Pick<HostRow, "name" | "tags" | "held">,
  ): Promise<EdgeHost> =>
    sql.begin(async (tx) => {
      const row = found(await records.lock(tx, caller.tenant, id));
      const changed = { ...row, ...to(row) };
      await records.change(tx, caller.tenant, id, changed);
      const { tags, held } = changed;
      await audit.append(tx, auditedBy(caller), {
        tenant: caller.tenant,
        action: "edge.host_updated",
        target: { type: "edge_host", id },
        details: { tags: [...tags], accepting: !held },
      });
      info("edge_host_updated", { tenant: caller.tenant, node_id: id });
      return hostBody(changed);
    }) as Promise<EdgeHost>;

  return {
    /** @throws Problem 402 `quota_exceeded` where the tenant has all the hosts that its plan allows */
    async requireRoom(tenant: string, tx: Transaction | null = null): Promise<void> {
      const { limit, tier } = edgeHostQuota(await tenants.terms(tenant));
      if (limit === null) return;
      const used = await (tx === null ? records.count(tenant) : records.countLive(tx, tenant));
      if (used >= limit)
        throw new Problem("quota_exceeded", `The plan allows ${limit} edge hosts`, {
          quota: "edge_hosts",
          limit,
          used,
          tier,
        });
    },

    /**
     * The host of a key: the one that has it already, else a new one.
     * @throws Problem 402 `quota_exceeded`, 409 `key_in_use`
     */
    async admit(tx: Transaction, admission: Admission): Promise<HostRow> {
      const { tenant, publicKey, names, tags, createdBy, agentVersion, by } = admission;
      const holder = await records.keyHolder(tx, publicKey);
      if (holder !== null) {
        const isOwn = holder.tenant === tenant && holder.revoked_at === null && holder.state !== "dropped";
        const own = isOwn ? await records.find(tenant, holder.host_id, tx) : null;
        if (own === null) throw keyInUse();
        return own;
      }
      await this.requireRoom(tenant, tx);
      const id = newId();
      const host = { id, tenant, name: nameOf(id, ...names), tags, created_by: createdBy, agent_version: agentVersion };
      await records.insert(tx, host);
      if (!(await records.addKey(tx, host, publicKey, "current"))) throw keyInUse();
      await audit.append(tx, by, {
        tenant,
        action: "edge.host_enrolled",
        target: { type: "edge_host", id },
        details: { tags: [...tags], key_fingerprint: sha256Hex(publicKey) },
      });
      return found(await records.find(tenant, id, tx));
    },

    /** The host that a key redeemed a token for; null: it is none any more, or the key is another's. */
    async redeemed(tx: Transaction, tenant: string, publicKey: Uint8Array): Promise<HostRow | null> {
      const holder = await records.keyHolder(tx, publicKey);
      const isOwn = holder?.tenant === tenant && holder.revoked_at === null && holder.state !== "dropped";
      return isOwn ? records.find(tenant, holder.host_id, tx) : null;
    },

    /** A live host, held until the transaction ends. The daemon's proof says whether it is the one. */
    live: (tx: Transaction, id: string): Promise<HostRow | null> => records.liveById(tx, id),

    /** Gives a host its next key; the same again changes nothing. @throws Problem 409 `key_in_use`, 429 `rate_limited` */
    async setNextKey(tx: Transaction, host: HostRow, publicKey: Uint8Array, by: AuditedBy): Promise<void> {
      const holder = await records.keyHolder(tx, publicKey);
      if (holder?.host_id === host.id && holder.state === "next") return;
      if (holder !== null) throw keyInUse();
      if ((await records.newKeys(tx, host.tenant, host.id)) >= maxKeysAnHour)
        throw new Problem("rate_limited", "The host has had too many keys in an hour", {}, { "Retry-After": "600" });
      await records.dropNext(tx, host.tenant, host.id);
      if (!(await records.addKey(tx, host, publicKey, "next"))) throw keyInUse();
      await audit.append(tx, by, {
        tenant: host.tenant,
        action: "edge.key_rotated",
        target: { type: "edge_host", id: host.id },
        details: { key_fingerprint: sha256Hex(publicKey) },
      });
    },

    async list(tenant: string, filter: HostFilter, page: Page): Promise<List<"hosts", EdgeHost>> {
      const rows = await records.list(tenant, filter, page);
      return listOf("hosts", rows.map(hostBody), page, ({ name, id }) => [name, id]);
    },

    /** @throws Problem 404 `host_not_found` */
    async one(tenant: string, id: string): Promise<EdgeHost> {
      return hostBody(found(await records.find(tenant, id)));
    },

    /** @throws Problem 404 `host_not_found`, 422 */
    update(
      caller: Caller,
      id: string,
      { name, tags, add_tags, remove_tags, accepting }: HostChange,
    ): Promise<EdgeHost> {
      const checked = name === undefined ? undefined : hostName(name);
      return change(caller, id, (row) => ({
        name: checked ?? row.name,
        tags: changedTags(row.tags, { replace: tags, add: add_tags, remove: remove_tags }),
        held: accepting === undefined ? row.held : !accepting,
      }));
    },

    /** @throws Problem 404 `host_not_found`, 422 */
    retag(caller: Caller, id: string, tags: TagChange): Promise<EdgeHost> {
      return change(caller, id, (row) => ({ ...row, tags: changedTags(row.tags, tags) }));
    },

    /** @throws Problem 404 `host_not_found`, also for one that was revoked before */
    async revoke(caller: Caller, id: string): Promise<void> {
      const { tenant } = caller;
      await sql.begin(async (tx) => {
        const [gone] = await records.revoke(tx, tenant, id);
        if (gone === undefined) throw new Problem("host_not_found", "Host not found");
        await audit.append(tx, auditedBy(caller), {
          tenant,
          action: "edge.host_revoked",
          target: { type: "edge_host", id },
          details: {},
        });
      });
      info("edge_host_revoked", { tenant, node_id: id });
    },

    /** For a tenant that is deleted. */
    async revokeAll(tenant: string): Promise<void> {
      await sql.begin((tx) => records.revoke(tx, tenant, null));
    },
  };
}

const keyInUse = () => new Problem("key_in_use", "The key is or was another host's");

/** Without the blanks around it. @throws Problem 422 */
export function hostName(text: string, path = "name"): string {
  const name = text.trim();
  if (name === "" || name.length > 128) throw invalidField(path, "must have 1–128 characters");
  if (!isStorable(name)) throw invalidField(path, unusableText);
  return name;
}

function hostBody(row: HostRow): EdgeHost {
  const since = row.revoked_at ?? row.enrolled_at;
  return {
    node_id: row.id,
    id: row.id,
    name: row.name,
    tenant_id: row.tenant,
    status: row.revoked_at === null ? "disconnected" : "revoked",
    connected: false,
    accepting: !row.held,
    not_accepting: row.held ? ["held"] : [],
    since: since.toISOString(),
    enrolled_at: row.enrolled_at.toISOString(),
    tags: [...row.tags],
    key_fingerprint: sha256Hex(row.public_key),
    agent_version: row.agent_version,
    created_by: row.created_by,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}
