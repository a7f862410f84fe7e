/**
 * Refreshing tokens: five minutes before they end, at once where a caller asks, and before a use where they have ended.
 * A row is leased while its provider is asked, so that of all nodes one refreshes; refresh tokens are often good once.
 */
import { refreshRetryMs } from "../../../../actors/credential/tokens.ts";
import { OAuthFailure, type OAuthProvider, refreshTokens } from "../../../adapters/oauth/port.ts";
import type { AuditedBy } from "../../audit/port.ts";
import type { Incidents } from "../../incidents/port.ts";
import type { CredentialRow } from "../records.ts";
import type { CredentialOptions } from "../service.ts";
import { storedTokens } from "../values.ts";
import { storeTokens } from "./tokens.ts";

export interface RefreshOptions extends Omit<CredentialOptions, "revoked"> {
  readonly providers: ReadonlyMap<string, OAuthProvider>;
  readonly incidents: Pick<Incidents, "report">;
  readonly newId: () => string;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** How long a node has a row to itself: longer than a provider may take. */
const leaseSeconds = 90;
/** Rows that a node refreshes beside each other. */
const beside = 20;

/** What became of it; `refused`: a new consent is needed. `none`: there is no refresh token. */
export type Refreshed = "refreshed" | "refused" | "unavailable" | "none";

export type Refreshing = ReturnType<typeof createRefreshing>;

export function createRefreshing(options: RefreshOptions) {
  const { sql, records, encryption, providers, incidents, newId, warn } = options;

  /**
   * Leases one row; null while another holds it, or where there is nothing to refresh.
   * @param whileDue only while its refresh is due: another node may have come to its end since it was found
   */
  async function lease(tenant: string, id: string, whileDue: boolean): Promise<Leased | null> {
    const by = newId();
    const { count } = await sql`
      update credentials set refresh_by = ${by}, refresh_until = now() + ${leaseSeconds} * interval '1 second'
      where tenant = ${tenant} and id = ${id} and status in ('active', 'expired') and ciphertext is not null
        and (refresh_until is null or refresh_until < now())
        and (not ${whileDue} or (status = 'active' and refresh_due_at <= now()))`;
    const row = count === 0 ? null : await records.find(tenant, id);
    return row === null ? null : { by, row };
  }

  /** Asks the provider for a leased row, and stores what it says while the lease is ours. */
  async function refresh({ by, row }: Leased, audited: AuditedBy | null): Promise<Refreshed> {
    const { tenant, id } = row;
    const release = () => sql`
      update credentials set refresh_by = null, refresh_until = null, refresh_due_at = null
      where tenant = ${tenant} and id = ${id} and refresh_by = ${by}`;
    const provider = providers.get(row.provider);
    try {
      const refreshToken = storedTokens(encryption, row)?.refreshToken ?? null;
      if (refreshToken === null) {
        await release();
        return "none";
      }
      if (provider === undefined) throw new OAuthFailure(false, "not_configured");
      const answer = await refreshTokens(provider, refreshToken);
      await sql.begin(async (tx) => {
        const locked = await records.find(tenant, id, tx, true);
        const [mine] =
          await tx`select 1 from credentials where tenant = ${tenant} and id = ${id} and refresh_by = ${by}`;
        // Revoked, or given anew, meanwhile.
        if (locked === null || mine === undefined || locked.version !== row.version) return;
        await storeTokens(options, tx, locked, answer, refreshToken, audited);
      });
      return "refreshed";
    } catch (error) {
      if (!(error instanceof OAuthFailure)) {
        // One that cannot be read must not be in the way of others.
        await postponed({ by, row }, "failed").catch(() => {});
        throw error;
      }
      return error.isRefusal ? refused({ by, row }, error.code) : postponed({ by, row }, error.code);
    }
  }

  async function refused({ by, row }: Leased, why: string): Promise<Refreshed> {
    const { tenant, id } = row;
    const { count } = await sql`
      update credentials set status = 'expired', refresh_due_at = null, refresh_by = null, refresh_until = null,
        updated_at = now()
      where tenant = ${tenant} and id = ${id} and refresh_by = ${by} and status <> 'revoked'`;
    if (count > 0) reportExpired(incidents, row, why);
    return "refused";
  }

  async function postponed({ by, row }: Leased, why: string): Promise<Refreshed> {
    const { tenant, id, provider } = row;
    const [failed] = await sql<{ failures: number }[]>`
      update credentials set refresh_failures = refresh_failures + 1, refresh_by = null, refresh_until = null
      where tenant = ${tenant} and id = ${id} and refresh_by = ${by} returning refresh_failures as failures`;
    if (failed !== undefined) {
      await sql`
        update credentials
        set refresh_due_at = now() + ${refreshRetryMs(failed.failures - 1)} * interval '1 millisecond'
        where tenant = ${tenant} and id = ${id} and refresh_by is null and refresh_due_at is not null`;
    }
    warn("credential_refresh_postponed", { tenant, credential: id, provider, why });
    return "unavailable";
  }

  /**
   * Refreshes one now, or waits for the refresh that is under way elsewhere.
   * @param audited null: nothing is put on record
   * @param version of the tokens that are to be replaced
   */
  async function atOnce(tenant: string, id: string, audited: AuditedBy | null, version: number): Promise<Refreshed> {
    const until = performance.now() + leaseSeconds * 1000;
    while (performance.now() < until) {
      const leased = await lease(tenant, id, false);
      if (leased !== null) {
        if (leased.row.version === version) return refresh(leased, audited);
        await sql`update credentials set refresh_by = null, refresh_until = null
          where tenant = ${tenant} and id = ${id} and refresh_by = ${leased.by}`;
        return "refreshed";
      }
      const row = await records.find(tenant, id);
      if (row === null || row.status === "revoked" || row.ciphertext === null) return "none";
      if (row.version !== version) return "refreshed";
      await Bun.sleep(100);
    }
    return "unavailable";
  }

  return {
    atOnce,

    /** Refreshes what is due, a few at a time. */
    async round(): Promise<void> {
      for (;;) {
        const due = await sql<{ tenant: string; id: string }[]>`
          select tenant, id from credentials
          where status = 'active' and refresh_due_at <= now() and (refresh_until is null or refresh_until < now())
          order by refresh_due_at limit ${beside}`;
        const outcomes = await Promise.all(due.map(({ tenant, id }) => leasedRefresh(tenant, id).catch(failed)));
        if (due.length < beside || outcomes.every((outcome) => outcome === null)) return;
      }
    },

    /** Of credentials whose end has passed. */
    async expire(): Promise<void> {
      const ended = await sql<CredentialRow[]>`
        update credentials c set status = 'expired', updated_at = now()
        where c.id in (select id from credentials where status = 'active' and expires_at <= now()
          order by expires_at limit 1000 for update skip locked) returning ${records.columns}`;
      for (const row of ended) reportExpired(incidents, row, "expired");
    },
  };

  function failed(error: unknown): Refreshed {
    warn("credential_refresh_failed", { error: String(error) });
    return "unavailable";
  }

  async function leasedRefresh(tenant: string, id: string): Promise<Refreshed | null> {
    const leased = await lease(tenant, id, true);
    return leased === null ? null : refresh(leased, null);
  }
}

interface Leased {
  /** Who holds it. */
  readonly by: string;
  readonly row: CredentialRow;
}

function reportExpired(incidents: Pick<Incidents, "report">, { tenant, id, provider }: CredentialRow, why: string) {
  incidents.report({
    category: "credential_refresh_failed",
    tenant,
    agentId: null,
    executionId: null,
    sessionId: null,
    toolName: null,
    violationType: why === "expired" ? "expired" : "refused",
    details: { credential_id: id, provider, why },
  });
}
