/**
 * The provider's keys: one that signs, a new one every 90 days. The next one is published an hour before it signs, so
 * that every node knows it when its first token comes; the last one as long as tokens of it may count.
 */
import { randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { systemTenant } from "../../../../actors/identity/identity.ts";
import { isObject } from "../../../../actors/kernel/json.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Encryption } from "../../encryption/port.ts";

const hourMs = 3600_000;
const dayMs = 24 * hourMs;
/** How long a key signs. */
export const keyAgeMs = 90 * dayMs;
/** How long before its first use a key is published. */
const aheadMs = hourMs;
/** How long a key is published after its last use: longer than any token, id tokens of a sign-out included. */
const behindMs = dayMs;
/** Between two looks at the database. */
const freshMs = 30_000;

/** Keys as the provider takes them. */
export interface KeyRing {
  /** Tells two rings apart. */
  readonly version: string;
  /** Private keys, the one that signs first; all of their public halves are published. */
  readonly signing: readonly JWK[];
  /** The one that signs first. */
  readonly cookies: readonly string[];
}

export interface IssuerKeys {
  /** As they were at most half a minute ago. The first call of all makes them. */
  ring(): Promise<KeyRing>;
  /** Makes the next keys when it is time, and forgets those whose time is over. */
  rotate(): Promise<void>;
}

interface Row {
  readonly id: string;
  readonly purpose: "signing" | "cookies";
  readonly ciphertext: string;
  readonly used_from: Date;
}

export interface IssuerKeysOptions {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly now: () => number;
  readonly newId: () => string;
}

export function createIssuerKeys({ sql, encryption, now, newId }: IssuerKeysOptions): IssuerKeys {
  let kept: { readonly at: number; readonly ring: Promise<KeyRing> } | null = null;

  const context = (id: string) => ({ tenant: systemTenant, record: id, version: "issuer-key" });

  async function load(): Promise<KeyRing> {
    let rows = await stored();
    if (!isUsable(rows, now())) {
      await rotate();
      rows = await stored();
    }
    const at = now();
    const used = (purpose: Row["purpose"]): readonly Row[] => {
      const all = rows.filter((row) => row.purpose === purpose);
      const usable = all.filter((row) => row.used_from.getTime() <= at).reverse();
      return [...usable, ...all.filter((row) => row.used_from.getTime() > at)];
    };
    const open = ({ id, ciphertext }: Row): string => encryption.decrypt(context(id), ciphertext);
    const [signing, cookies] = [used("signing"), used("cookies")];
    return {
      version: [...signing, ...cookies].map(({ id }) => id).join(" "),
      signing: signing.map((row) => readJwk(open(row))),
      cookies: cookies.map(open),
    };
  }

  const stored = () => sql<Row[]>`select id, purpose, ciphertext, used_from from issuer_keys order by used_from, id`;

  /** Under a lock, so that of nodes that start at once one makes the keys and the others find them. */
  async function rotate(): Promise<void> {
    if (!isDue(await stored(), now())) return;
    const made = await generateKeyPair("RS256", { extractable: true });
    const privateJwk = await exportJWK(made.privateKey);
    const publicJwk = await exportJWK(made.publicKey);
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('issuer keys', 0))`;
      const at = now();
      const rows = await tx<Row[]>`select id, purpose, ciphertext, used_from from issuer_keys order by used_from, id`;
      for (const { id } of outlived(rows, at)) await tx`delete from issuer_keys where id = ${id}`;
      const due = purposes.filter((purpose) => isDueOf(rows, purpose, at));
      for (const purpose of due) {
        const id = newId();
        const names = { alg: "RS256", use: "sig", kid: id };
        const secret = {
          signing: JSON.stringify({ ...privateJwk, ...names }),
          cookies: randomBytes(32).toString("base64url"),
        }[purpose];
        const published = purpose === "signing" ? JSON.stringify({ ...publicJwk, ...names }) : null;
        const isFirst = rows.every((row) => row.purpose !== purpose);
        await tx`
          insert into issuer_keys (id, tenant, purpose, public_jwk, ciphertext, created_at, used_from)
          values (${id}, ${systemTenant}, ${purpose}, ${published}::text::jsonb,
            ${encryption.encrypt(context(id), secret)}, ${new Date(at)}, ${new Date(isFirst ? at : at + aheadMs)})`;
      }
    });
    kept = null;
  }

  return {
    ring() {
      const at = now();
      if (kept === null || at - kept.at >= freshMs) {
        const ring = load();
        kept = { at, ring };
        ring.catch(() => {
          kept = null;
        });
      }
      return kept.ring;
    },
    rotate,
  };
}

const purposes = ["signing", "cookies"] as const;

const isUsable = (rows: readonly Row[], at: number): boolean =>
  purposes.every((purpose) => rows.some((row) => row.purpose === purpose && row.used_from.getTime() <= at));

const isDue = (rows: readonly Row[], at: number): boolean =>
  outlived(rows, at).length > 0 || purposes.some((purpose) => isDueOf(rows, purpose, at));

/** Whether the newest key ends so soon that the next one has to be published. */
function isDueOf(rows: readonly Row[], purpose: Row["purpose"], at: number): boolean {
  const newest = rows.findLast((row) => row.purpose === purpose);
  return newest === undefined || at >= newest.used_from.getTime() + keyAgeMs - aheadMs;
}

/** Keys whose successor has been in use for so long that nothing of theirs counts any more. */
function outlived(rows: readonly Row[], at: number): readonly Row[] {
  return rows.filter((row) =>
    rows.some(
      (other) =>
        other.purpose === row.purpose &&
        other.used_from > row.used_from &&
        other.used_from.getTime() + (row.purpose === "cookies" ? keyAgeMs : behindMs) < at,
    ),
  );
}

function readJwk(text: string): JWK {
  const jwk: unknown = JSON.parse(text);
  if (!isObject(jwk)) throw new TypeError("a stored key is no JWK");
  return jwk as JWK;
}
