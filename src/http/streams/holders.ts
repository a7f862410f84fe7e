/** Whose an open stream is: it ends with their API key, their membership or the tenant, on every node within 5 s. */
import type { Identity } from "../../../actors/identity/identity.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Notices } from "../../store/redis/notices.ts";

export interface Holder {
  readonly tenant: string;
  readonly realm: string;
  readonly userId: string;
  /** Null: the stream was opened with a token, whose expiry ends no stream. */
  readonly keyId: string | null;
  /** Of the value that the stream was opened with. */
  readonly keyDigest: string | null;
  /** An administrator who entered the tenant, and may read it until it is purged. */
  readonly isVisitor: boolean;
}

export const holderOf = ({ realm, userId, keyId, keyDigest, kind, homeTenant }: Identity, tenant: string): Holder => ({
  tenant,
  realm,
  userId,
  keyId,
  keyDigest,
  isVisitor: kind === "operator" && keyId === null && tenant !== homeTenant,
});

/** A stream that can be ended. */
export interface Held {
  readonly holder: Holder;
  end(): void;
}

export interface StreamEndsOptions {
  readonly sql: Sql;
  readonly notices: Pick<Notices, "on">;
  /** The open streams of this node. */
  readonly streams: { held(): readonly Held[] };
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Between two looks where no notice comes. With the 3 s that a request may go by older records it stays below 5 s. */
const lookEveryMs = 1500;

/**
 * Watches over the open streams of a node. One look asks for all of them at once; a notice of a change brings the next
 * one forward. While the database is away streams stay open, and nothing happens that they could tell of.
 * @returns a function that ends it, after a look under way
 */
export function startStreamEnds(options: StreamEndsOptions): () => Promise<void> {
  let running: Promise<void> | null = null;
  let isWanted = false;
  /** One look after the other: a notice during one asks for another. */
  const look = (): Promise<void> => {
    isWanted = true;
    running ??= (async () => {
      while (isWanted) {
        isWanted = false;
        await endOver(options);
      }
    })().finally(() => {
      running = null;
    });
    return running;
  };
  const soon = () => void look().catch(() => {});
  const ends = (["tenant", "member", "key"] as const).map((topic) => options.notices.on(topic, soon));
  const stop = repeatedly(lookEveryMs, look, () => {});
  return async () => {
    for (const end of ends) end();
    await stop();
    await running?.catch(() => {});
  };
}

/** Ends the streams whose holders may not read any more. @throws when the database is away */
async function endOver({ sql, streams, now }: StreamEndsOptions): Promise<void> {
  const open = streams.held();
  if (open.length === 0) return;
  const [tenants, keys, members] = await Promise.all([
    closedTenants(sql, distinct(open.map(({ holder }) => holder.tenant))),
    liveKeys(sql, distinct(open.flatMap(({ holder }) => holder.keyId ?? [])), now()),
    revokedMembers(sql, distinct(open.map(({ holder }) => memberName(holder)))),
  ]);
  for (const stream of open) {
    const { holder } = stream;
    const tenant = tenants.get(holder.tenant);
    const isClosed = holder.isVisitor ? tenant === "purged" : tenant !== undefined;
    const isOver = isClosed || hasEnded(stream, keys) || members.has(memberName(holder));
    if (isOver) stream.end();
  }
}

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)];
const memberName = ({ tenant, realm, userId }: Holder): string => JSON.stringify([tenant, realm, userId]);

async function closedTenants(sql: Sql, slugs: readonly string[]): Promise<ReadonlyMap<string, "closed" | "purged">> {
  const rows = await sql<{ slug: string; is_purged: boolean }[]>`
    select slug, purged_at is not null as is_purged from tenants where slug = any(${[...slugs]}) and status <> 'active'`;
  return new Map(rows.map(({ slug, is_purged }) => [slug, is_purged ? "purged" : "closed"]));
}

/** The values of each key that opens something: its own, and for the grace of a rotation the former one. */
async function liveKeys(
  sql: Sql,
  ids: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (ids.length === 0) return new Map();
  const at = new Date(now);
  const rows = await sql<{ id: string; hash: string; former: string | null }[]>`
    select id, hash, case when previous_expires_at > ${at} then previous_hash end as former from api_keys
    where id = any(${[...ids]}::uuid[]) and revoked_at is null and (expires_at is null or expires_at > ${at})`;
  return new Map(rows.map(({ id, hash, former }) => [id, former === null ? [hash] : [hash, former]]));
}

/** Whether the key has ended, or the value of it that the stream was opened with. */
function hasEnded({ holder: { keyId, keyDigest } }: Held, keys: ReadonlyMap<string, readonly string[]>): boolean {
  return keyId !== null && !(keyDigest !== null && keys.get(keyId)?.includes(keyDigest));
}

async function revokedMembers(sql: Sql, names: readonly string[]): Promise<ReadonlySet<string>> {
  const people = names.map((name): string[] => JSON.parse(name));
  const column = (at: number) => people.map((person) => person[at] ?? "");
  const rows = await sql<{ tenant: string; realm: string; user_id: string }[]>`
    select tenant, realm, user_id from tenant_members
    where status = 'revoked' and (tenant, realm, user_id) in (
      select * from unnest(${column(0)}::text[], ${column(1)}::text[], ${column(2)}::text[]))`;
  return new Set(rows.map((row) => JSON.stringify([row.tenant, row.realm, row.user_id])));
}
