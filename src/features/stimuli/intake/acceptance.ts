/**
 * The acceptance of stimuli: a key is claimed and the row written in one statement, so there is no moment at which
 * one stands without the other. What arrives together is written together: PostgreSQL flushes its log once for all
 * of it, and that flush is what a 2xx stands on.
 */
import { createHash } from "node:crypto";
import { invalidAt, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import type { Arrival, Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import { jsonTexts, numbers, texts } from "../../../store/array-literal.ts";
import { gather } from "../../../store/gather.ts";
import { isDatabaseUnavailable, type Sql } from "../../../store/postgres.ts";

/** Who holds a key: the stimulus that was accepted under it first. */
export interface Holder {
  readonly stimulusId: string;
  readonly status: string;
  readonly acknowledge: string;
  /** Of the run it started; null: none yet. */
  readonly executionId: string | null;
}

export type AcceptOutcome = { readonly accepted: Stimulus } | { readonly duplicateOf: Holder };

export interface AcceptanceOptions {
  readonly sql: Sql;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly newId: () => string;
}

export interface Acceptance {
  /**
   * Accepts a stimulus, or says who holds its key.
   * @param claims whether the key is claimed; a forced replay leaves it to its holder
   * @throws Problem 503 `stimulus_service_unavailable`; nothing was accepted then, or that is unknown
   */
  accept(arrival: Arrival, claims?: boolean): Promise<AcceptOutcome>;
  /** Which stimulus holds a key now; null: none. */
  holder(arrival: Pick<Arrival, "tenant" | "source" | "key">): Promise<Holder | null>;
}

/** Rows of one statement, and the characters their contents may have together. */
const maxRows = 256;
const maxCharacters = 4 * 1_048_576;
/** Statements under way at once: while one is flushed the next one fills. */
const maxStatements = 2;
/** Arrivals that wait for a statement; more are turned away. */
const maxWaiting = 10_000;
const maxTries = 10;
/** An accepted stimulus is left to the node that accepted it for so long, ms. */
export const leaseMs = 12_000;
/** Keys are held for a day from the first acceptance (docs/reference/stimuli.md). */
export const keptMs = 86_400_000;

interface Waiting {
  readonly stimulus: Stimulus;
  /** Hex; empty: no key is claimed. */
  readonly digest: string;
  tries: number;
  readonly resolve: (acceptance: AcceptOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export function createAcceptance({ sql, now, newId }: AcceptanceOptions): Acceptance {
  let waiting: Waiting[] = [];
  let statements = 0;
  let isScheduled = false;

  function accept(arrival: Arrival, claims = true): Promise<AcceptOutcome> {
    if (waiting.length >= maxWaiting) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      waiting.push({
        stimulus: newStimulus(arrival, newId(), newId(), now()),
        digest: claims && arrival.key !== null ? digestOf(arrival.key) : "",
        tries: 0,
        resolve,
        reject,
      });
      schedule();
    });
  }

  /** What arrives in the same turn of the event loop goes together. */
  function schedule(): void {
    if (isScheduled || statements >= maxStatements || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (statements < maxStatements && waiting.length > 0) void write(next());
    });
  }

  /** The next rows: none twice under one key, since a statement cannot claim a key twice. */
  function next(): Waiting[] {
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    const keys = new Set<string>();
    let characters = 0;
    for (const one of waiting) {
      const { tenant, source, content } = one.stimulus;
      const name = `${tenant} ${source} ${one.digest}`;
      const fits = taken.length < maxRows && (taken.length === 0 || characters + content.length <= maxCharacters);
      if (!fits || (one.digest !== "" && keys.has(name))) {
        left.push(one);
        continue;
      }
      if (one.digest !== "") keys.add(name);
      characters += content.length;
      taken.push(one);
    }
    waiting = left;
    return taken;
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    statements++;
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
      statements--;
      schedule();
    }
  }

  async function tellHolders(refused: readonly Waiting[]): Promise<void> {
    const holders = await holdersOf(sql, refused);
    for (const one of refused) {
      const holder = holders.get(nameOf(one.stimulus, one.digest));
      if (holder !== undefined) one.resolve({ duplicateOf: holder });
      // Let go between the two statements: it may be had now.
      else if (++one.tries < maxTries) waiting.push(one);
      else one.reject(unavailable());
    }
  }

  const holderOf = gather(
    // A key that has expired is free, though its row may not be erased yet.
    (asked: readonly Named[]) => holdersOf(sql, asked, now() - keptMs),
    ({ stimulus, digest }) => nameOf(stimulus, digest),
  );
  return {
    accept,
    holder: async ({ tenant, source, key }) =>
      key === null ? null : holderOf({ stimulus: { tenant, source }, digest: digestOf(key) }),
  };
}

function newStimulus(arrival: Arrival, id: string, executionId: string, receivedAt: number): Stimulus {
  // In `routed` mode the acceptance is the beginning of the first attempt.
  const attempts = arrival.acknowledge === "routed" ? 1 : 0;
  return { ...arrival, id, executionId, routerExecutionId: null, attempts, receivedAt };
}

const digestOf = (key: string): string => createHash("sha256").update(key).digest("hex");

const nameOf = ({ tenant, source }: Pick<Stimulus, "tenant" | "source">, digest: string): string =>
  `${tenant} ${source} ${digest}`;

/** The statement of an acceptance. Keys are claimed in one order, so that two nodes with the same keys do not deadlock. */
const insertText = `
with arrived as (
  select * from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::int[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::uuid[],
    $18::int[], $19::bigint[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[])
    as a (tenant, id, source, channel, acknowledge, content, content_encoding, content_type, content_size,
      content_sha256, headers, headers_truncated, idempotency_key, key_digest, source_id, override, run_id,
      attempts, received_at, replay_of, received_by_kind, received_by_sub, has_key,
      received_by_email, received_by_tier)
), claimed as (
  insert into stimulus_keys (tenant, source, key_digest, stimulus_id, accepted_at)
  select tenant, source, decode(key_digest, 'hex'), id, to_timestamp(received_at / 1000.0) from arrived
  where key_digest <> '' order by tenant, source, key_digest
  on conflict (tenant, source, key_digest) do update
    set stimulus_id = excluded.stimulus_id, accepted_at = excluded.accepted_at
    where stimulus_keys.accepted_at <= excluded.accepted_at - interval '${keptMs} milliseconds'
  returning stimulus_id
)
insert into stimuli (tenant, id, source, channel, acknowledge, content, content_encoding, content_type, content_size,
  content_sha256, headers, headers_truncated, idempotency_key, source_id, override, run_id, attempts,
  due_at, replay_of, received_by_kind, received_by_sub, received_by_email, received_by_tier, received_at, last_event_at)
select tenant, id, source, channel, acknowledge, content, content_encoding, nullif(content_type, ''), content_size,
  content_sha256, headers, headers_truncated = 't', case when has_key = 't' then idempotency_key end,
  nullif(source_id, '')::uuid, nullif(override, '')::jsonb, run_id, attempts,
  to_timestamp(received_at / 1000.0) + case when acknowledge = 'routed' then interval '${leaseMs} milliseconds'
    else interval '0' end,
  nullif(replay_of, '')::uuid, received_by_kind, received_by_sub, nullif(received_by_email, ''),
  nullif(received_by_tier, ''), to_timestamp(received_at / 1000.0),
  to_timestamp(received_at / 1000.0)
from arrived where key_digest = '' or id in (select stimulus_id from claimed)
returning id`;

/** @returns the ids of those that were accepted */
async function insert(sql: Sql, batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
  const rows = batch.map(({ stimulus }) => stimulus);
  const of = (read: (stimulus: Stimulus) => string) => texts(rows.map(read));
  const found = await sql.unsafe<{ id: string }[]>(
    insertText,
    [
      of(({ tenant }) => tenant),
      of(({ id }) => id),
      of(({ source }) => source),
      of(({ channel }) => channel),
      of(({ acknowledge }) => acknowledge),
      of(({ content }) => content),
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
    ],
    { prepare: true },
  );
  return new Set(found.map(({ id }) => id));
}

interface Named {
  readonly stimulus: Pick<Stimulus, "tenant" | "source">;
  readonly digest: string;
}

/** @param after when keys must have been accepted to count, Unix milliseconds; absent: whenever it was */
async function holdersOf(sql: Sql, asked: readonly Named[], after = 0): Promise<ReadonlyMap<string, Holder>> {
  const rows = await sql.unsafe<
    {
      tenant: string;
      source: string;
      digest: string;
      id: string;
      status: string;
      acknowledge: string;
      run_id: string;
    }[]
  >(
    `select k.tenant, k.source, encode(k.key_digest, 'hex') as digest, s.id, s.status, s.acknowledge, s.run_id
     from unnest($1::text[], $2::text[], $3::text[]) as u (tenant, source, digest)
     join stimulus_keys k on k.tenant = u.tenant and k.source = u.source and k.key_digest = decode(u.digest, 'hex')
     join stimuli s on s.tenant = k.tenant and s.id = k.stimulus_id
     where k.accepted_at > $4`,
    [
      texts(asked.map(({ stimulus }) => stimulus.tenant)),
      texts(asked.map(({ stimulus }) => stimulus.source)),
      texts(asked.map(({ digest }) => digest)),
      new Date(after),
    ],
    { prepare: true },
  );
  return new Map(
    rows.map((row) => [
      nameOf(row, row.digest),
      {
        stimulusId: row.id,
        status: row.status,
        acknowledge: row.acknowledge,
        executionId: row.status === "classified" ? row.run_id : null,
      },
    ]),
  );
}

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
