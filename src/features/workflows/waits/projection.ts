/** The table `workflow_waits`, kept in step with the states of runs: one row for each state that waits for a stimulus. */
import { isStorable } from "../../../../actors/manifest/storable.ts";
import { parseSource } from "../../../../actors/stimulus/routing.ts";
import type { RunState } from "../../../../actors/workflow/run/state.ts";
import { takingName } from "../../../../actors/workflow/run/watching.ts";
import { type Current, linesOf } from "../../../../actors/workflow/run/work.ts";
import type { ActorChange, Statement } from "../../../runtime/port.ts";
import { watchedOf } from "./watched.ts";

const insert = `
insert into workflow_waits (taker, entry, tenant, source, state_name, key, equals, match, since)
select taker, entry, tenant, source, state_name, key, decode(equals, 'hex'), match, to_timestamp(since)
from json_to_recordset($1::text::json) as w (taker uuid, entry integer, tenant text, source text, state_name text,
  key text, equals text, match text, since double precision)
on conflict (taker, entry) do nothing`;

const remove = `
delete from workflow_waits w using json_to_recordset($1::text::json) as g (taker uuid, entry integer)
where w.taker = g.taker and w.entry = g.entry`;

/** The statements that bring the rows in step with what a commit makes of runs. */
export function waitRows(changes: readonly ActorChange<RunState>[]): Statement[] {
  const begun: object[] = [];
  const over: object[] = [];
  for (const { key: taker, tenant, before, after } of changes) {
    // Most turns of most runs, by far.
    if (before?.current === after?.current) continue;
    const [were, are] = [waitsOf(before), waitsOf(after)];
    for (const entry of were.keys()) if (!are.has(entry)) over.push({ taker, entry });
    for (const [entry, wait] of are) if (!were.has(entry)) begun.push({ taker, entry, tenant, ...wait });
  }
  const statements: Statement[] = [];
  if (begun.length > 0) statements.push({ text: insert, parameters: [JSON.stringify(begun)] });
  if (over.length > 0) statements.push({ text: remove, parameters: [JSON.stringify(over)] });
  return statements;
}

/** By entry. */
function waitsOf(state: RunState | null): ReadonlyMap<number, object> {
  const waits = new Map<number, object>();
  if (state?.current == null) return waits;
  add(waits, state.current, null);
  const isBatch = state.header.batch !== undefined;
  for (const { name, current } of linesOf(state.current)) {
    if (current !== null) add(waits, current, isBatch ? Number(name) : null);
  }
  return waits;
}

/** @param item its index in a Map; null: none */
function add(waits: Map<number, object>, { entry, name, work }: Current, item: number | null): void {
  if (work.of !== "wait" || work.watch === null) return;
  const source = parseSource(work.watch.source);
  const { key, equals } = watchedOf(work.watch);
  // No stimulus can be of what is no source's name, nor hold what no store takes.
  if (source === null || ![key, work.watch.match ?? ""].every(isStorable)) return;
  const { match } = work.watch;
  waits.set(entry, { source, state_name: takingName(name, item), key, equals, match, since: work.since / 1000 });
}
