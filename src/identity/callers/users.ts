/** What the newest token of each person and machine told: what is known of them while they do not call. */
import { LRUCache } from "lru-cache";
import type { Identity, Membership } from "../../../actors/identity/identity.ts";
import { tenantKind } from "../../../actors/identity/tenant.ts";
import { isStorable } from "../../../actors/manifest/storable.ts";
import { inBatches } from "../../store/batches.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface Users {
  /**
   * What a token proved. It is written behind the request, which never waits for it; what could not be written comes
   * with the next token. Never throws.
   */
  saw(seen: Seen): void;
  /** Makes sure that something is known of a caller, in the transaction that makes what goes by it. */
  note(tx: Transaction, caller: Identity): Promise<void>;
  /** Takes away what is known of a purged tenant's people: of a consumer's own tenant its owner, else its realm's. */
  forgetOf(tenant: string): Promise<void>;
}

/** A person or machine, as a token told of it. */
export interface Seen extends Pick<Identity, "realm" | "userId" | "kind" | "clientId" | "email" | "role" | "issuedAt"> {
  /** As the token calls the person; null: it does not. */
  readonly name: string | null;
  /** What the token claims the person to be in the tenant of its realm; null: it claims nothing. */
  readonly claimed: Membership | null;
}

const limits = { rows: 500, statements: 1 };
/** Sightings that wait while the database is slow; further ones come with the next token. */
const maxWaiting = 5_000;
const maxRemembered = 10_000;
/** A row of `users`, by the names of its columns. */
interface Sighting {
  readonly realm: string;
  readonly user_id: string;
  readonly kind: Identity["kind"];
  readonly client_id: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly role: Identity["role"];
  readonly member_role: Membership | null;
  readonly token_iat: number;
}

export function createUsers(sql: Sql): Users {
  const write = inBatches((sightings: readonly Sighting[]) => writeSightings(sql, sightings), limits);
  /** When the newest token was issued that was written, by realm and subject, Unix seconds. */
  const written = new LRUCache<string, number>({ max: maxRemembered });
  let waiting = 0;

  async function note(name: string, sighting: Sighting): Promise<void> {
    waiting++;
    try {
      await write(sighting);
      written.set(name, Math.max(written.get(name) ?? 0, sighting.token_iat));
    } catch {
      // The database is away: requests are told so, and the next token brings it again.
    } finally {
      waiting--;
    }
  }

  return {
    saw(seen) {
      const sighting = sightingOf(seen);
      if (sighting === null || waiting >= maxWaiting) return;
      const name = JSON.stringify([seen.realm, seen.userId]);
      if (sighting.token_iat <= (written.get(name) ?? 0)) return;
      void note(name, sighting);
    },
    async note(tx, caller) {
      // What the token claimed is on its way; until it is there, the caller is what they are in this request.
      const claimed = caller.membership === "owner" ? null : caller.membership;
      const sighting = sightingOf({ ...caller, name: null, claimed });
      if (sighting !== null) await writeSightings(tx, [sighting], "keep");
    },
    async forgetOf(tenant) {
      // As `consumerTenant` forms the slug, both ways.
      if (tenantKind(tenant) === "consumer")
        await sql`
          delete from users where kind = 'consumer' and ${tenant} in ('u-' || replace(lower(user_id), '-', ''),
            'u-' || left(encode(sha256(convert_to(user_id, 'UTF8')), 'hex'), 32))`;
      else await sql`delete from users where kind = 'tenant_user' and realm = ${`tenant-${tenant}`}`;
      written.clear();
    },
  };
}

/** Null for what no token told, and for what cannot be stored. */
function sightingOf({ realm, userId, kind, clientId, email, name, role, claimed, issuedAt }: Seen): Sighting | null {
  if (issuedAt === null || !isStorable(userId)) return null;
  return {
    realm,
    user_id: userId,
    kind,
    client_id: storable(clientId),
    email: storable(email),
    name: storable(name),
    role,
    member_role: claimed,
    token_iat: issuedAt,
  };
}

/** What PostgreSQL would refuse in one row must not keep the others of its statement from being written. */
const storable = (text: string | null): string | null => (text !== null && isStorable(text) ? text : null);

/**
 * Of one person the newest counts. Of a deleted tenant's people nothing is written: nothing erases what comes after its
 * purge. Rows are locked in one order, so that nodes do not wait for each other in a circle.
 */
async function writeSightings(
  sql: Sql | Transaction,
  sightings: readonly Sighting[],
  known: "keep" | "replace" = "replace",
): Promise<readonly null[]> {
  await sql`
    insert into users (realm, user_id, kind, client_id, email, name, role, member_role, token_iat)
    select distinct on (realm, user_id) realm, user_id, kind, client_id, email, name, role, member_role, token_iat
    from json_to_recordset(${JSON.stringify(sightings)}::text::json)
      as r (realm text, user_id text, kind text, client_id text, email text, name text, role text, member_role text,
        token_iat bigint)
    where kind <> 'tenant_user' or not exists (
      select 1 from tenants where slug = substr(r.realm, length('tenant-') + 1) and status = 'deleted')
    order by realm, user_id, token_iat desc
    on conflict (realm, user_id) do update set kind = excluded.kind, client_id = excluded.client_id,
      email = excluded.email, name = excluded.name, role = excluded.role, member_role = excluded.member_role,
      token_iat = excluded.token_iat, last_seen_at = now()
    where ${known === "replace"} and users.token_iat <= excluded.token_iat`;
  return sightings.map(() => null);
}
