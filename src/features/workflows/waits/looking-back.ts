/**
 * The activity `workflow.stimulus.watch`: a Wait that was entered looks for what came before it. Its row is committed by
 * then, so that what comes from now on finds it by itself (`telling.ts`).
 */

import { isStorable } from "../../../../actors/manifest/storable.ts";
import { matterOf } from "../../../../actors/stimulus/fitting.ts";
import { firstIdOf } from "../../../../actors/stimulus/ids.ts";
import { parseSource } from "../../../../actors/stimulus/routing.ts";
import type { Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import { Effort } from "../../../../actors/template/effort.ts";
import { matcherOf, matchSteps, textAt } from "../../../../actors/template/matching.ts";
import { stimulusWatch, type TakenStimulus, type Watch } from "../../../../actors/workflow/run/activities/stimulus.ts";
import { type Activity, type Address, implement, Terminal } from "../../../runtime/port.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { WaitRecords } from "./records.ts";

/** Waits of a source without a key (docs/reference/stimuli.md). */
const maxKeylessWaits = 1_000;
/** Ids begin with the time of the node that minted them, ms. */
const slackMs = 60_000;
/** Stimuli of one read, and bytes of their contents; one is always read. */
const page = { rows: 64, bytes: 4 * 1_048_576 } as const;

export interface LookingBackOptions {
  readonly sql: Sql;
  readonly records: Pick<WaitRecords, "keylessBefore">;
}

export function watchActivity({ sql, records }: LookingBackOptions): Activity {
  return implement(
    stimulusWatch,
    {
      concurrency: 16,
      // It is tried again for hours: given up, the state would fail for an outage.
      retry: { attempts: 200, firstDelayMs: 200 },
      atHand: true,
    },
    async ({ entry, state_name, since, ...watch }, { actor, signal }) => {
      const source = parseSource(watch.source);
      // No stimulus is ever of such a source, nor holds what no store takes.
      if (source === null || ![watch.key, watch.equals].every((text) => isStorable(text ?? "")))
        return { stimulus: null };
      const { tenant, key: taker } = actor;
      if (watch.key === null) {
        const before = await records.keylessBefore({ tenant, source }, { taker, entry }, maxKeylessWaits);
        if (before >= maxKeylessWaits) {
          const message = `${maxKeylessWaits} states wait for stimuli of ${source} without a key`;
          throw new Terminal("too_many_waits", message);
        }
      }
      return { stimulus: await oldestOf(sql, { actor, source, state_name, since }, watch, signal) };
    },
  );
}

interface Looking {
  readonly actor: Pick<Address, "tenant" | "key">;
  readonly source: string;
  readonly state_name: string;
  /** Unix milliseconds. */
  readonly since: number;
}

/** The oldest stimulus that fits; null: none. */
async function oldestOf(sql: Sql, looking: Looking, watch: Watch, signal: AbortSignal): Promise<TakenStimulus | null> {
  const holds = watch.match === null ? null : matcherOf(watch.match);
  for (let after: string | null = null; ; ) {
    signal.throwIfAborted();
    const rows: readonly StoredRow[] = await readPage(sql, looking, watch, after);
    for (const row of rows) {
      const matter = matterOf({
        content: row.content,
        contentEncoding: row.content_encoding,
        contentType: row.content_type,
        headers: JSON.parse(row.headers) as Record<string, string>,
      });
      const hasText = watch.key === null || textAt(matter.payload, watch.key) === watch.equals;
      if (hasText && (holds?.(matter, new Effort(matchSteps)) ?? true)) {
        return { stimulus_id: row.id, payload: matter.payload };
      }
      // Reading a large content takes a while, and other work of the node waits for it.
      if (row.content.length > 64 * 1024) await new Promise(setImmediate);
    }
    const last: StoredRow | undefined = rows.at(-1);
    if (last === undefined) return null;
    after = last.id;
  }
}

interface StoredRow {
  readonly id: string;
  readonly content: string;
  readonly content_encoding: Stimulus["contentEncoding"];
  readonly content_type: string | null;
  /** JSON. */
  readonly headers: string;
}

/** Some of those that may fit, the oldest first; none: there are no more. */
async function readPage(
  sql: Sql,
  { actor: { tenant, key: taker }, source, state_name, since }: Looking,
  { key, equals }: Watch,
  after: string | null,
): Promise<readonly StoredRow[]> {
  const from = after === null ? sql`s.id >= ${firstIdOf(since - slackMs)}` : sql`s.id > ${after}`;
  return sql<StoredRow[]>`
    with found as materialized (
      select s.id, s.content_size from stimuli s
      where s.tenant = ${tenant} and s.source = ${source} and ${from} and s.received_at >= ${new Date(since)}
        and s.status <> 'discarded' ${key === null ? sql`` : mayHold(sql, equals ?? "")}
        and not exists (select from stimulus_takers t where t.tenant = s.tenant and t.stimulus_id = s.id
          and t.taker = ${taker} and t.state_name = ${state_name})
      order by s.id limit ${page.rows}
    ), few as (
      select id from (select id, sum(content_size) over (order by id) - content_size as before from found) sized
      where before < ${page.bytes}
    )
    select s.id, s.content, s.content_encoding, s.content_type, s.headers
    from few join stimuli s on s.tenant = ${tenant} and s.id = few.id order by s.id`;
}

/**
 * Whether a content can hold a value that prints as this text: it stands there as it is, unless it is escaped, of a form,
 * or a number that is written in another way. Most contents need not be read for this.
 */
function mayHold(sql: Sql, text: string) {
  const isNumber = text.trim() !== "" && Number.isFinite(Number(text));
  return sql`and s.content_encoding = 'utf-8' and (strpos(s.content, ${text}) > 0 or strpos(s.content, '\\') > 0
    or s.content_type ilike 'application/x-www-form-urlencoded%'
    ${isNumber ? sql`or s.content ~ '[0-9][eE][-+0-9]|[0-9.]{17}'` : sql``})`;
}
