/**
 * A child record of a Map: up to `batch` of its items, of which as many are at work as it holds slots. Each is a line of
 * its own. Those that ended well are forgotten, those that did not are kept for as long as the Map goes on; a record
 * without any ends by itself.
 */

import type { BodyOf } from "../../../kernel/message.ts";
import type { Context } from "../../../kernel/turn.ts";
import { notesBytes } from "../blackboard/notes.ts";
import { jsonBytes } from "../blackboard/size.ts";
import { enter } from "../entering.ts";
import { guarded } from "../guarded.ts";
import type { StateResult } from "../kind.ts";
import { lineTo } from "../lines.ts";
import { workflowRunProtocol } from "../messages.ts";
import { settle } from "../settling.ts";
import type { RunState } from "../state.ts";
import type { RunTurn } from "../turn.ts";
import type { Line } from "../work.ts";
import { type BatchWork, batchOf, without, workOf } from "./item-rows.ts";
import type { mapMessages } from "./messages.ts";
import type { ItemRow, KeptItem } from "./progress.ts";

/** Items that begin within one turn, and what of the turn's effort those before may have taken. */
const mostAtOnce = 100;
const mostEffort = 25_000;

/** The state of a child record in which nothing has begun. */
export function firstBatch(body: BodyOf<typeof mapMessages.open_items>, context: Context): RunState {
  const { header, definition, blackboard, items, skip, slots } = body;
  const { now } = context;
  const { state_name: name, visit, first } = batchOf(header);
  const skipped = new Set(skip);
  const indices = items.map((_, at) => first + at);
  const work: BatchWork = {
    of: "batch",
    lines: [],
    slots,
    todo: indices.filter((index) => !skipped.has(index)),
    earlier: {},
    kept: skip.map((index) => ({ index, status: "cancelled", attempts: 0 })),
    news: [],
    seq: 0,
    succeeded: 0,
    returned: 0,
    orders: 0,
    told: { succeeded: 0, failed: 0, cancelled: 0, orders: 0, at: now },
  };
  return {
    header,
    status: "running",
    started_at: now,
    deadline_at: null,
    paused_at: null,
    last_transition_at: now,
    current: { name, visit, entry: 1, entered_at: now, deadline_at: null, work },
    current_state: name,
    next: null,
    visits: {},
    transition_count: 0,
    entries: 1,
    outputs: [],
    ending: null,
    definition,
    input: null,
    blackboard,
    blackboard_bytes: jsonBytes(blackboard),
    items,
  };
}

/** Begins items while there are slots, and finishes those whose results are there. @returns whether anything changed */
export function goOn(run: RunTurn): boolean {
  finish(run);
  let begun = 0;
  while (hasRoom(workOf(run))) {
    if (begun === mostAtOnce || run.effort.used > mostEffort) {
      run.tell(workflowRunProtocol, run.id, "advance", { entry: run.current.entry }, { coCommit: true });
      break;
    }
    beginItem(run);
    begun++;
  }
  return begun > 0;
}

const hasRoom = ({ slots, lines, todo }: BatchWork): boolean => todo.length > 0 && lines.length < slots;

function beginItem(run: RunTurn): void {
  const work = workOf(run);
  const [index, ...todo] = work.todo;
  if (index === undefined) return;
  const { first } = batchOf(run.state.header);
  const notes = { [run.stateOf("Map").as]: run.state.items?.[index - first] ?? null, index };
  const line: Line = { ...lineTo(String(index), run.current.name, notes), bytes: notesBytes(notes) };
  run.work({ ...work, todo, lines: [...work.lines, line] });
  run.inLine(line.name, () => {
    enter(run, run.state.current_state ?? "", null);
    finishLine(run);
  });
  if (workOf(run).lines.some(({ end }) => end !== null)) collect(run);
}

/** Results that need no outside work do not wait for a turn of their own: items have no log that they must stand in. */
function finish(run: RunTurn): void {
  for (const { name } of workOf(run).lines) run.inLine(name, () => finishLine(run));
  collect(run);
}

function finishLine(run: RunTurn): void {
  if (!run.isAtWork) return;
  const { work } = run.current;
  if (work.of === "immediate") guarded(run, () => settle(run, work.result as StateResult));
}

/** Takes out the lines that have ended. */
export function collect(run: RunTurn): void {
  const work = workOf(run);
  const over = work.lines.filter(({ end }) => end !== null);
  if (over.length === 0) return;
  const rows = over.map((line) => endedRow(run, line));
  const indices = new Set(rows.map(({ index }) => index));
  const kept = rows.filter(({ status }) => status === "failed").map(({ index, attempts }) => keptItem(index, attempts));
  run.work({
    ...work,
    lines: work.lines.filter(({ end }) => end === null),
    earlier: without(work.earlier, indices),
    kept: [...work.kept, ...kept],
    succeeded: work.succeeded + rows.length - kept.length,
    news: [...work.news, ...rows],
  });
}

const keptItem = (index: number, attempts: number): KeptItem => ({ index, status: "failed", attempts });

function endedRow(run: RunTurn, { name, last, end, attempts = 1 }: Line): ItemRow {
  const failed = end?.status === "failed";
  return {
    index: Number(name),
    status: failed ? "failed" : "completed",
    attempts: attempts + (workOf(run).earlier[name] ?? 0),
    result: last === null ? null : JSON.stringify(last),
    error: failed ? (end.error_code ?? "state_failed") : null,
    execution_id: startedBy(last),
  };
}

function startedBy(result: Line["last"]): string | null {
  const id = result?.execution_id ?? result?.child_execution_id ?? null;
  return typeof id === "string" ? id : null;
}
