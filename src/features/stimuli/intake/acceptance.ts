/**
 * The acceptance of stimuli: a key is claimed and the row written in one statement, so there is no moment at which
 * one stands without the other. What arrives together is written together: PostgreSQL flushes its log once for all
 * of it, and that flush is what a 2xx stands on.
 */
import { invalidAt, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import type { Arrival, Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { gather } from "../../../store/gather.ts";
import { jsonTexts, numbers, separated, texts } from "../../../store/postgres/array-literal.ts";
import { isDatabaseUnavailable, type Sql } from "../../../store/postgres/pool.ts";
import { Waitlist } from "./waitlist.ts";

/** Who holds a key: the stimulus that was accepted under it first. */
export interface Holder {
  readonly stimulusId: string;
  readonly status: string;
  readonly acknowledge: string;
  /** Of the run it started; null: none yet. */
  readonly executionId: string | null;
  /** What of the two it holds. */
  readonly by: "key" | "signed bytes";
}

export type AcceptOutcome = { readonly accepted: Stimulus } | { readonly duplicateOf: Holder };

export interface AcceptanceOptions {
  readonly sql: Sql;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Of the run that a stimulus may start. */
  readonly newRunId: () => string;
}

export interface Accepting {
  readonly claims?: boolean;
  readonly id?: string | null;
}

export interface Acceptance {
  /**
   * Accepts a stimulus, or says who holds its key.
   * @param how `claims`: whether key and signed bytes are claimed, as usual; a forced replay leaves them to their holder.
   *   `id`: a fresh UUIDv7 to accept it under; null, as usual: one is minted
   * @throws Problem 503 `stimulus_service_unavailable`; nothing was accepted then, or that is unknown
   */
  accept(arrival: Arrival, how?: Accepting): Promise<AcceptOutcome>;
  /** Arrivals that wait for a statement. */
  waiting(): number;
  /** Which stimulus holds the key now, else the signed bytes; null: none. */
  holder(arrival: Pick<Arrival, "tenant" | "source" | "key" | "guard">): Promise<Holder | null>;
}

/** Contents of more characters have statements of their own, so that they delay only each other. */
const largeCharacters = 64 * 1024;
/** Statements of each kind, and how many are under way at once: while one is flushed the next one fills. */
const small = { rows: 256, characters: 4 * 1_048_576, statements: 2 } as const;
const large = { rows: 8, characters: 1_048_576, statements: 1 } as const;
/** Arrivals that wait for a statement; more are turned away. */
const maxWaiting = 10_000;
const maxTries = 10;
/** An accepted stimulus is left to the node that accepted it for so long, ms. */
export const leaseMs = 12_000;
/** Keys are held for a day from the first acceptance (docs/reference/stimuli.md). */
export const keptMs = 86_400_000;

/** What a stimulus claims: its key, its signed bytes, or nothing. */
interface Claim {
  readonly stimulus: Pick<Stimulus, "tenant" | "source">;
  /** Hex, of the key, else of the signed bytes; empty: nothing is claimed. */
  readonly digest: string;
  /** Hex, of the signed bytes; empty: they may be repeated. */
  readonly guard: string;
}

interface Waiting extends Claim {
  readonly stimulus: Stimulus;
  tries: number;
  readonly resolve: (acceptance: AcceptOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export function createAcceptance({ sql, now, newId, newRunId }: AcceptanceOptions): Acceptance {
  const kinds = [small, large].map((bounds) => ({
    waiting: new Waitlist<Waiting>(bounds, ({ stimulus: { tenant, source, content }, digest }) => ({
      tenant,
      characters: content.length,
      name: digest === "" ? "" : `${tenant} ${source} ${digest}`,
    })),
    most: bounds.statements,
    statements: 0,
  }));
  type Kind = (typeof kinds)[number];
  const kindOf = ({ content }: Pick<Stimulus, "content">) => kinds[content.length > largeCharacters ? 1 : 0] as Kind;
  const hasWork = ({ waiting, statements, most }: Kind) => waiting.size > 0 && statements < most;
  let isScheduled = false;

  function accept(arrival: Arrival, { claims = true, id = null }: Accepting = {}): Promise<AcceptOutcome> {
    const { waiting } = kindOf(arrival);
    if (waiting.size >= maxWaiting) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      waiting.push({
        stimulus: newStimulus(arrival, id ?? newId(), newRunId(), now()),
        ...claimOf(arrival, claims),
        tries: 0,
        resolve,
        reject,
      });
      schedule();
    });
  }

  /** What arrives in the same turn of the event loop goes together. */
  function schedule(): void {
    if (isScheduled || !kinds.some(hasWork)) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      for (const kind of kinds) while (hasWork(kind)) void write(kind);
    });
  }

  async function write(kind: Kind): Promise<void> {
    // None twice under one key, since a statement cannot claim a key twice.
    const batch = kind.waiting.next();
    kind.statements++;
    try {
      const accepted = await insert(sql, batch);
      const refused: Waiting[] = [];
      for (const one of batch) {
        if (accepted.has(one.stimulus.id)) one.resolve({ accepted: one.stimulus });
        else refused.push(one);
      }
      if (refused.length > 0) await tellHolders(refused);
    } catch (error) {
      const failure = isDatabaseUnavailable(error) ? unavailable() : error;
      for (const one of batch) one.reject(failure);
    } finally {
      kind.statements--;
      schedule();
    }
  }

  async function tellHolders(refused: readonly Waiting[]): Promise<void> {
    const since = now() - keptMs;
    const holders = await holdersOf(sql, refused, since);
    const free = refused.filter((one) => !holders.has(nameOf(one)));
    if (free.length > 0) await releaseExpired(sql, free, since);
    for (const one of refused) {
      const holder = holders.get(nameOf(one));
      if (holder !== undefined) one.resolve({ duplicateOf: holder });
      // Expired, or let go between the two statements: it may be had now.
      else if (++one.tries < maxTries) kindOf(one.stimulus).waiting.push(one);
      else one.reject(unavailable());
    }
  }

  // A key that has expired is free, though its row may not be erased yet.
  const holderOf = gather((asked: readonly Claim[]) => holdersOf(sql, asked, now() - keptMs), nameOf);
  return {
    accept,
    waiting: () => kinds.reduce((sum, { waiting }) => sum + waiting.size, 0),
    async holder(arrival) {
      const claim = { stimulus: arrival, ...claimOf(arrival, true) };
      return claim.digest === "" ? null : holderOf(claim);
    },
  };
}

function newStimulus(arrival: Arrival, id: string, executionId: string, receivedAt: number): Stimulus {
  // In `routed` mode the acceptance is the beginning of the first attempt.
  const attempts = arrival.acknowledge === "routed" ? 1 : 0;
  return { ...arrival, id, executionId, routerExecutionId: null, attempts, failures: 0, receivedAt };
}

const digestOf = (key: string): string => sha256Hex(key);

function claimOf({ key, guard }: Pick<Arrival, "key" | "guard">, claims: boolean): Pick<Claim, "digest" | "guard"> {
  if (!claims) return { digest: "", guard: "" };
  return { digest: key === null ? (guard ?? "") : digestOf(key), guard: guard ?? "" };
}

const nameOf = ({ stimulus: { tenant, source }, digest, guard }: Claim): string =>
  `${tenant} ${source} ${digest} ${guard}`;

/**
 * The statement of an acceptance. Keys are claimed in one order, so that two nodes with the same keys do not deadlock.
 * Where equal signed bytes are a repeat, the row of the key stands for both: one that conflicts with either is not written.
 */
const insertText = `
with arrived as (
  select * from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[],
    string_to_array($6::text, $28::text), $7::text[], $8::text[], $9::int[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::uuid[],
    $18::int[], $19::bigint[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[],
    $26::text[], $27::text[], $29::text[], $30::text[])
    as a (tenant, id, source, channel, acknowledge, content, content_encoding, content_type, content_size,
      content_sha256, headers, headers_truncated, idempotency_key, key_digest, source_id, override, run_id,
      attempts, received_at, replay_of, received_by_kind, received_by_sub, has_key,
      received_by_email, received_by_tier, guard_digest, signed_digest, received_by_realm, starter)
), claimed as (
  insert into stimulus_keys (tenant, source, key_digest, guard_digest, stimulus_id, accepted_at)
  select tenant, source, decode(key_digest, 'hex'), decode(nullif(guard_digest, ''), 'hex'), id,
    to_timestamp(received_at / 1000.0) from arrived
  where key_digest <> '' order by tenant, source, key_digest
  on conflict do nothing
  returning stimulus_id
)
insert into stimuli (tenant, id, source, channel, acknowledge, content, content_encoding, content_type, content_size,
  content_sha256, headers, headers_truncated, idempotency_key, source_id, override, run_id, attempts,
  due_at, replay_of, received_by_kind, received_by_sub, received_by_email, received_by_tier, received_at, last_event_at,
  guard_digest, received_by_realm, starter)
select tenant, id, source, channel, acknowledge, coalesce(content, ''), content_encoding, nullif(content_type, ''), content_size,
  content_sha256, headers, headers_truncated = 't', case when has_key = 't' then idempotency_key end,
  nullif(source_id, '')::uuid, nullif(override, '')::jsonb, run_id, attempts,
  to_timestamp(received_at / 1000.0) + case when acknowledge = 'routed' then interval '${leaseMs} milliseconds'
    else interval '0' end,
  nullif(replay_of, '')::uuid, received_by_kind, received_by_sub, nullif(received_by_email, ''),
  nullif(received_by_tier, ''), to_timestamp(received_at / 1000.0),
  to_timestamp(received_at / 1000.0), decode(nullif(signed_digest, ''), 'hex'), nullif(received_by_realm, ''),
  nullif(starter, '')::jsonb
from arrived where key_digest = '' or id in (select stimulus_id from claimed)
on conflict (tenant, id) do nothing
returning id`;

/** @returns the ids of those that were accepted */
async function insert(sql: Sql, batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
  const rows = batch.map(({ stimulus }) => stimulus);
  const of = (read: (stimulus: Stimulus) => string) => texts(rows.map(read));
  const contents = separated(rows.map(({ content }) => content));
  const found = await sql.unsafe<{ id: string }[]>(
    insertText,
    [
      of(({ tenant }) => tenant),
      of(({ id }) => id),
      of(({ source }) => source),
      of(({ channel }) => channel),
      of(({ acknowledge }) => acknowledge),
      contents.text,
      of(({ contentEncoding }) => contentEncoding),
      of(({ contentType }) => contentType ?? ""),
      numbers(rows.map(({ contentSize }) => contentSize)),
      of(({ contentSha256 }) => contentSha256),
      jsonTexts(rows.map(({ headers }) => JSON.stringify(headers))),
      of(({ headersTruncated }) => (headersTruncated ? "t" : "f")),
      of(({ key }) => key ?? ""),
      texts(batch.map(({ digest }) => digest)),
      of(({ sourceId }) => sourceId ?? ""),
      of(({ override }) => (override === null ? "" : JSON.stringify(override))),
      of(({ executionId }) => executionId),
      numbers(rows.map(({ attempts }) => attempts)),
      numbers(rows.map(({ receivedAt }) => receivedAt)),
      of(({ replayOf }) => replayOf ?? ""),
      of(({ receivedBy }) => receivedBy.kind),
      of(({ receivedBy }) => receivedBy.sub),
      of(({ key }) => (key === null ? "f" : "t")),
      of(({ receivedBy }) => receivedBy.email ?? ""),
      of(({ receivedBy }) => receivedBy.tier ?? ""),
      texts(batch.map(({ guard }) => guard)),
      of(({ guard }) => guard ?? ""),
      contents.separator,
      of(({ receivedBy }) => receivedBy.realm ?? ""),
      of(({ startedBy = null }) => (startedBy === null ? "" : JSON.stringify(startedBy))),
    ],
    { prepare: true },
  );
  return new Set(found.map(({ id }) => id));
}

/**
 * Who holds what is claimed, by name: the key's holder, else that of the signed bytes.
 * @param after when it must have been accepted to count, Unix milliseconds
 */
async function holdersOf(sql: Sql, asked: readonly Claim[], after: number): Promise<ReadonlyMap<string, Holder>> {
  const rows = await sql.unsafe<HolderRow[]>(
    `with asked as (select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as u (tenant, source, digest, guard)),
     held as (
       select u.digest, u.guard, k.tenant, k.source, k.stimulus_id, k.accepted_at, 'key' as by from asked u
       join stimulus_keys k on k.tenant = u.tenant and k.source = u.source and k.key_digest = decode(u.digest, 'hex')
       union all
       select u.digest, u.guard, k.tenant, k.source, k.stimulus_id, k.accepted_at, 'signed bytes' as by from asked u
       join stimulus_keys k on k.tenant = u.tenant and k.source = u.source and k.guard_digest = decode(u.guard, 'hex')
       where u.guard <> '')
     select h.tenant, h.source, h.digest, h.guard, h.by, s.id, s.status, s.acknowledge, s.run_id,
       s.classification is not null as is_routed
     from held h join stimuli s on s.tenant = h.tenant and s.id = h.stimulus_id
     where h.accepted_at > $5 order by h.by desc`,
    [...claimTexts(asked), new Date(after)],
    { prepare: true },
  );
  // A key's holder comes last, and counts. One without a key lies under its signed bytes in both columns.
  return new Map(
    rows.map((row) => [
      nameOf({ stimulus: row, digest: row.digest, guard: row.guard }),
      {
        stimulusId: row.id,
        status: row.status,
        acknowledge: row.acknowledge,
        executionId: row.status === "classified" && row.is_routed ? row.run_id : null,
        by: row.digest === row.guard ? "signed bytes" : row.by,
      },
    ]),
  );
}

interface HolderRow {
  readonly tenant: string;
  readonly source: string;
  readonly digest: string;
  readonly guard: string;
  readonly by: Holder["by"];
  readonly id: string;
  readonly status: string;
  readonly acknowledge: string;
  readonly run_id: string;
  readonly is_routed: boolean;
}

/** Lets go of what was claimed before `since` (Unix milliseconds) and is in the way. */
async function releaseExpired(sql: Sql, asked: readonly Claim[], since: number): Promise<void> {
  const parameters = [...claimTexts(asked), new Date(since)];
  const asking = "unnest($1::text[], $2::text[], $3::text[], $4::text[]) as u (tenant, source, digest, guard)";
  const expired = "k.tenant = u.tenant and k.source = u.source and k.accepted_at <= $5";
  for (const held of [
    "k.key_digest = decode(u.digest, 'hex')",
    "k.guard_digest = decode(nullif(u.guard, ''), 'hex')",
  ]) {
    await sql.unsafe(`delete from stimulus_keys k using ${asking} where ${expired} and ${held}`, parameters);
  }
}

const claimTexts = (asked: readonly Claim[]): string[] => [
  texts(asked.map(({ stimulus }) => stimulus.tenant)),
  texts(asked.map(({ stimulus }) => stimulus.source)),
  texts(asked.map(({ digest }) => digest)),
  texts(asked.map(({ guard }) => guard)),
];

export const unavailable = (): Problem =>
  new Problem("stimulus_service_unavailable", "Stimuli cannot be accepted now", {}, { "Retry-After": "1" });

/** Of an idempotency key. */
const maxKeyCharacters = 1024;

/**
 * The idempotency key of a stimulus (docs/reference/stimuli.md).
 * @param path where the key stands, for the refusal
 * @returns null for an empty key as for none
 * @throws Problem 422 `validation_failed`
 */
export function checkedKey(path: string, key: string | null | undefined): string | null {
  if (key === null || key === undefined || key === "") return null;
  if (key.length > maxKeyCharacters)
    throw invalidAt("validation_failed", path, `is longer than ${maxKeyCharacters} characters`);
  if (!isStorable(key)) throw invalidAt("validation_failed", path, "holds characters that cannot be stored");
  return key;
}
