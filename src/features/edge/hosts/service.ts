/** What can be done with hosts: admitting and rotating keys for their daemons; looking, naming, tagging, ending for people. */
import { nameOf } from "../../../../actors/edge/enrollment.ts";
import { changedTags, type TagChange } from "../../../../actors/edge/tags.ts";
import type { edgeHost } from "../../../../actors/edge-host/host.ts";
import type { AuditedBy } from "../../../../actors/kernel/audit.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable, unusableText } from "../../../../actors/manifest/storable.ts";
import { edgeHostQuota } from "../../../../actors/policy/quota.ts";
import { type List, listOf, type Page } from "../../../http/paging.ts";
import type { Call } from "../../../http/route.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Actors } from "../../../runtime/port.ts";
import { gather } from "../../../store/gather.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import type { Changes } from "../../changes/port.ts";
import type { Commands, RecentCommand } from "../commands/port.ts";
import type { HostFilter, HostRecords, HostRow } from "./records.ts";
import type { EdgeHost, EdgeHostDetail, HostChange } from "./schema.ts";

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
  readonly commands: Pick<Commands, "ofHost">;
  readonly changes: Pick<Changes, "changed">;
  /** The actors of hosts. */
  readonly actors: () => Actors<typeof edgeHost>;
}

export type Hosts = ReturnType<typeof createHosts>;

export function createHosts({ sql, records, tenants, audit, newId, info, commands, changes, actors }: HostsOptions) {
  /** @throws Problem 404 `host_not_found` */
  function found(row: HostRow | null): HostRow {
    if (row === null) throw new Problem("host_not_found", "Host not found");
    return row;
  }

  type Change = Pick<HostRow, "name" | "tags" | "held" | "not_accepting">;
  async function change(caller: Caller, id: string, to: (row: HostRow) => Change): Promise<EdgeHost> {
    const changed = (await sql.begin(async (tx) => {
      const row = found(await records.lock(tx, caller.tenant, id));
      const changed: HostRow = { ...row, ...to(row) };
      await records.change(tx, caller.tenant, id, changed);
      const { tags, held } = changed;
      await audit.append(tx, auditedBy(caller), {
        tenant: caller.tenant,
        action: "edge.host_updated",
        target: { type: "edge_host", id },
        details: { tags: [...tags], accepting: !held },
      });
      info("edge_host_updated", { tenant: caller.tenant, node_id: id });
      return changed;
    })) as HostRow;
    changes.changed(caller.tenant, { type: "host", id, status: changed.status });
    return hostBody(changed);
  }

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

    /** A host was admitted, and that is committed. */
    admitted({ tenant, id, status }: Pick<HostRow, "tenant" | "id" | "status">): void {
      changes.changed(tenant, { type: "host", id, status, telling: "first" });
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
    async one(tenant: string, id: string): Promise<EdgeHostDetail> {
      const row = found(await records.find(tenant, id));
      const recent = await commands.ofHost(tenant, id);
      return { ...hostBody(row), recent_commands: recent.map(recentBody) };
    },

    /** @throws Problem 404 `host_not_found`, 422 */
    async update(caller: Caller, id: string, asked: HostChange): Promise<EdgeHost> {
      const { name, tags, add_tags, remove_tags, accepting } = asked;
      const checked = name === undefined ? undefined : hostName(name);
      const body = await change(caller, id, (row) => ({
        name: checked ?? row.name,
        tags: changedTags(row.tags, { replace: tags, add: add_tags, remove: remove_tags }),
        held: accepting === undefined ? row.held : !accepting,
        not_accepting: accepting === undefined ? row.not_accepting : accepted(row.not_accepting, accepting),
      }));
      // Its answer is the commit: nothing is sent to a host that is held by it.
      if (accepting !== undefined)
        await actors().at(caller.tenant, id).ask("accept", { accepting }, { repeatable: true });
      return body;
    },

    /** @throws Problem 404 `host_not_found`, 422 */
    retag(caller: Caller, id: string, tags: TagChange): Promise<EdgeHost> {
      return change(caller, id, (row) => ({ ...row, tags: changedTags(row.tags, tags) }));
    },

    /** @throws Problem 404 `host_not_found`, also for one that was revoked before */
    async revoke(caller: Caller, id: string): Promise<void> {
      const { tenant } = caller;
      await sql.begin(async (tx) => {
        if (!(await records.revoke(tx, tenant, id))) throw new Problem("host_not_found", "Host not found");
        await audit.append(tx, auditedBy(caller), {
          tenant,
          action: "edge.host_revoked",
          target: { type: "edge_host", id },
          details: {},
        });
      });
      info("edge_host_revoked", { tenant, node_id: id });
      // It is revoked; should its actor not hear of it now, the sweep of links tells it.
      await actors()
        .at(tenant, id)
        .ask("revoke", {}, { repeatable: true })
        .catch(() => {});
    },

    /** For a tenant that is deleted. @returns whether all of its hosts are revoked, and their commands ended */
    async revokeAll(tenant: string): Promise<boolean> {
      for (;;) {
        const ids = await records.revokeSome(tenant);
        for (const id of ids) info("edge_host_revoked", { tenant, node_id: id });
        await Promise.all(ids.map((id) => actors().at(tenant, id).ask("revoke", {}, { repeatable: true })));
        if (ids.length === 0) return (await records.countUnrevoked(tenant)) === 0;
      }
    },

    /** Whose key it is, of any tenant; keys that are asked for at one moment go together. */
    byKey: gather(
      (keys: readonly Uint8Array[]) => records.byKeys(keys),
      (key) => key.toBase64(),
    ),

    /**
     * A daemon has come with its next key, which is its only one from now on.
     * @returns false: the key is not the next one any more
     */
    async promote({ tenant, id }: Pick<HostRow, "tenant" | "id">, publicKey: Uint8Array): Promise<boolean> {
      const isPromoted = await sql.begin((tx) => records.promote(tx, tenant, id, publicKey));
      if (isPromoted) info("edge_host_key_rotated", { tenant, node_id: id, key_fingerprint: sha256Hex(publicKey) });
      return isPromoted;
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

/** What a person's word makes of the reasons. */
function accepted(reasons: HostRow["not_accepting"], accepting: boolean): HostRow["not_accepting"] {
  const others = reasons.filter((reason) => reason !== "held" && (reason !== "cloned" || !accepting));
  return accepting ? others : [...others, "held" as const].sort();
}

const nothingKnown = { os: null, arch: null, local_tools: [], tools: [], mount_points: [], labels: {} };

function hostBody(row: HostRow): EdgeHost {
  const status = row.revoked_at === null ? row.status : "revoked";
  const connected = status === "connected" || status === "unhealthy";
  const since = row.revoked_at ?? row.since ?? row.enrolled_at;
  const others = row.not_accepting.filter((reason) => reason !== "held");
  // The row says at once what people want of it, its actor a moment later.
  const not_accepting = row.held ? [...others, "held" as const].sort() : others;
  const capabilities = { ...nothingKnown, ...row.capabilities, tools: row.capabilities?.tools ?? [] };
  return {
    node_id: row.id,
    id: row.id,
    name: row.name,
    tenant_id: row.tenant,
    status,
    connected,
    accepting: not_accepting.length === 0,
    not_accepting,
    since: since.toISOString(),
    enrolled_at: row.enrolled_at.toISOString(),
    last_heartbeat_at: row.last_heartbeat_at?.toISOString() ?? null,
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    tags: [...row.tags],
    os: capabilities.os,
    arch: capabilities.arch,
    labels: capabilities.labels,
    capabilities,
    key_fingerprint: sha256Hex(row.public_key),
    agent_version: row.agent_version,
    boot_id: row.boot_id,
    slots: row.slots,
    running: connected ? row.running : 0,
    connection:
      connected && row.owner_node !== null && row.link_since !== null
        ? { epoch: row.epoch, since: row.link_since.toISOString(), service_node: row.owner_node }
        : null,
    created_by: row.created_by,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

function recentBody(row: RecentCommand): EdgeHostDetail["recent_commands"][number] {
  return {
    command_id: row.id,
    fleet_command_id: row.run_id,
    tool: row.tool,
    dispatched_at: row.dispatched_at?.toISOString() ?? null,
    outcome: row.status,
    exit_code: row.exit_code,
    duration_ms: row.duration_ms,
  };
}
