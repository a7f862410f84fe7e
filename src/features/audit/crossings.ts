/** Entries of administrators who act in other tenants, and of tenants that come into being by their first use. */
import { LRUCache } from "lru-cache";
import type { RequestAudit } from "../../http/request-audit.ts";
import { derivedUuid } from "../../lib/digest.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "./port.ts";
import { insertEntries } from "./service.ts";

/** Reads of one actor in one tenant have one entry within so long. */
const readsMs = 5 * 60_000;
const maxRemembered = 10_000;

export interface CrossingsOptions {
  readonly sql: Sql;
  readonly audit: Audit;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function createCrossings({
  sql,
  audit,
  now,
  newId,
}: CrossingsOptions): Pick<RequestAudit, "entered" | "tenantMade"> {
  // Reads that have their entry: looking at a tenant costs no statement each time.
  const noted = new LRUCache<string, true>({ max: maxRemembered });
  return {
    async entered({ incoming, path, identity, tenant }) {
      const { request, requestId, address } = incoming;
      const at = now();
      const isRead = request.method === "GET" || request.method === "HEAD";
      const period = Math.floor(at / readsMs);
      // The same id on every node.
      const id = isRead
        ? derivedUuid(JSON.stringify(["tenant.switch", identity.realm, identity.userId, tenant, period]))
        : newId();
      if (noted.has(id)) return;
      const { text, parameters } = insertEntries(
        [
          {
            id,
            at,
            tenant,
            by: auditedBy({ identity, request, requestId, address }),
            action: "tenant.switch",
            target: { type: "tenant", id: tenant },
            outcome: "allowed",
            details: { method: request.method, route: path },
          },
        ],
        "on conflict (id) do nothing",
      );
      await sql.unsafe(text, parameters as string[], { prepare: true });
      if (isRead) noted.set(id, true);
    },

    async tenantMade(tx, { incoming: { request, requestId, address }, identity, tenant }) {
      const target = { type: "tenant", id: tenant };
      const by = auditedBy({ identity, request, requestId, address });
      await audit.append(tx, by, { tenant, action: "tenant.autoprovisioned", target, details: {} });
    },
  };
}
