/**
 * A child record of a Map: up to `batch` of its items, of which as many are at work as it holds slots. Each is a line of
 * its own. Those that ended well are forgotten, those that did not are kept for as long as the Map goes on; a record
 * without any ends by itself.
 */

import type { Json } from "../../../kernel/json.ts";
import type { BodyOf } from "../../../kernel/message.ts";
import type { Context } from "../../../kernel/turn.ts";
import { jsonBytes } from "../blackboard/size.ts";
import { tellParent } from "../child-waits.ts";
import { enter, leaveState } from "../entering.ts";
import { guarded } from "../guarded.ts";
import type { StateResult } from "../kind.ts";
import { leaveLines, lineTo, notesBytes } from "../lines.ts";
import { workflowRunProtocol } from "../messages.ts";
import { settle } from "../settling.ts";
import type { RunState } from "../state.ts";
import type { RunTurn } from "../turn.ts";
import type { Line, WorkOf } from "../work.ts";
import type { mapMessages, Order } from "./messages.ts";
import type { ItemRow, KeptItem } from "./progress.ts";
import { itemsFact } from "./rows.ts";

type BatchWork = WorkOf<"batch">;

/** Items that begin within one turn, and what of the turn's effort those before may have taken. */
const mostAtOnce = 100;
const mostEffort = 25_000;
/** News of single items is told at most so often, ms, where nothing waits for it. */
const tellEveryMs = 1_000;

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

/** Tries an item again, or gives one up. @returns the status in which it is, where that cannot be done */
export function order(run: RunTurn, index: number, what: Order): string | null {
  const work = workOf(run);
  const kept = work.kept.find((one) => one.index === index);
  const line = work.lines.find(({ name }) => name === String(index));
  const waits = work.todo.includes(index);
  const done = { ...work, orders: work.orders + 1 };
  run.work(done);
  if (what === "retry") {
    if (kept === undefined) return line !== undefined ? "running" : waits ? "pending" : "completed";
    run.work({
      ...done,
      kept: work.kept.filter((one) => one !== kept),
      todo: [...work.todo, index],
      earlier: { ...work.earlier, [index]: kept.attempts },
      news: [...work.news, row(index, "pending", kept.attempts)],
    });
    return null;
  }
  if (line !== undefined) {
    const attempts = (line.current?.attempt ?? 1) + (work.earlier[line.name] ?? 0);
    const id = underWay(line);
    run.inLine(line.name, () => leaveState(run, "cancelled"));
    giveUp(run, index, attempts, id);
    // A tool call of its may have waited for a person.
    if ((line.current?.waits ?? []).length > 0) tellParent(run);
    return null;
  }
  if (waits) {
    giveUp(run, index, work.earlier[index] ?? 0, null);
    return null;
  }
  return kept === undefined ? "completed" : kept.status === "cancelled" ? null : kept.status;
}

function giveUp(run: RunTurn, index: number, attempts: number, executionId: string | null): void {
  const work = workOf(run);
  run.work({
    ...work,
    lines: work.lines.filter(({ name }) => name !== String(index)),
    todo: work.todo.filter((one) => one !== index),
    earlier: without(work.earlier, new Set([index])),
    kept: [...work.kept, { index, status: "cancelled", attempts }],
    news: [...work.news, { ...row(index, "cancelled", attempts), execution_id: executionId }],
  });
}

const row = (index: number, status: ItemRow["status"], attempts: number): ItemRow => ({
  index,
  status,
  attempts,
  result: null,
  error: null,
  execution_id: null,
});

/** Gives up everything. The record is over then. @param reason such as `cancelled`; after `deleted` no row stays */
export function close(run: RunTurn, reason: string): void {
  const work = workOf(run);
  const given = work.lines.map((line) => ({
    ...row(Number(line.name), "cancelled", (line.current?.attempt ?? 1) + (work.earlier[line.name] ?? 0)),
    execution_id: underWay(line),
  }));
  leaveLines(run, () => leaveState(run, reason));
  const left = workOf(run);
  run.work({ ...left, lines: [], news: [...left.news, ...given] });
  if (reason === "deleted") run.fact(itemsFact, { of: "gone", run_id: batchOf(run.state.header).run_id });
  else write(run);
  run.change({ status: "cancelled" });
}

/** At the end of every turn: what became of items is put on record, and the run is told what it must know. */
export function closeTurn(run: RunTurn): void {
  write(run);
  const work = workOf(run);
  const { lines, todo, kept, slots, told, succeeded, orders } = work;
  const failed = kept.filter(({ status }) => status === "failed").length;
  const cancelled = kept.length - failed;
  const surplus = Math.max(0, slots - lines.length - todo.length);
  const isOver = lines.length + todo.length === 0;
  const isNews = told.failed !== failed || told.cancelled !== cancelled || told.orders !== orders;
  const isDue = told.succeeded !== succeeded && run.now - told.at >= tellEveryMs;
  if (surplus === 0 && !isOver && !isNews && !isDue) return;
  const seq = work.seq + 1;
  const returned = work.returned + surplus;
  const is_gone = isOver && kept.length === 0;
  run.work({
    ...work,
    seq,
    returned,
    slots: slots - surplus,
    told: { succeeded, failed, cancelled, orders, at: run.now },
  });
  const waiting = Math.max(0, todo.length - Math.max(0, slots - lines.length));
  const said = { seq, succeeded, failed, cancelled, todo: waiting, returned, orders };
  const { run_id } = batchOf(run.state.header);
  run.tell(workflowRunProtocol, run_id, "items_reported", { batch: run.id, ...said, is_gone }, { coCommit: true });
  if (is_gone) run.change({ status: "completed" });
}

/** Puts on record what became of items in this turn: those that ended, and those that began or go on differently. */
function write(run: RunTurn): void {
  const work = workOf(run);
  const before = linesBefore(run);
  const begun = work.lines.flatMap((line) => {
    const [now, then] = [shownOf(line), before.get(line.name)];
    if (then !== undefined && then.attempts === now.attempts && then.execution_id === now.execution_id) return [];
    const attempts = now.attempts + (work.earlier[line.name] ?? 0);
    return [{ ...row(Number(line.name), "running", attempts), execution_id: now.execution_id }];
  });
  const rows = [...work.news, ...begun];
  if (rows.length === 0) return;
  run.work({ ...work, news: [] });
  const { run_id, state_name, visit, attempt = 1 } = batchOf(run.state.header);
  run.fact(itemsFact, { of: "items", run_id, state_name, visit, attempt, items: rows });
  forget(run, rows);
}

/** Values of items that ended well are needed no more. */
function forget(run: RunTurn, rows: readonly ItemRow[]): void {
  const { items = [], header } = run.state;
  const { first } = batchOf(header);
  const done = new Set(rows.filter(({ status }) => status === "completed").map(({ index }) => index - first));
  if (done.size > 0) run.change({ items: items.map((value: Json, at) => (done.has(at) ? null : value)) });
}

function linesBefore(run: RunTurn) {
  const work = run.before.current?.work;
  const lines = work?.of === "batch" ? work.lines : [];
  return new Map(lines.map((line) => [line.name, shownOf(line)]));
}

const shownOf = (line: Line) => ({ attempts: line.current?.attempt ?? 1, execution_id: underWay(line) });

/** The execution or run that an item has under way, once it has started. */
function underWay({ current }: Line): string | null {
  if (current === null) return null;
  const { work } = current;
  if (work.of === "subworkflow") return work.started ? work.child : null;
  if (work.of === "agent") {
    return (
      work.ended?.execution_id ?? work.children.find(({ role, started }) => role === "agent" && started)?.id ?? null
    );
  }
  return null;
}

function without(counts: BatchWork["earlier"], indices: ReadonlySet<number>): BatchWork["earlier"] {
  return Object.fromEntries(Object.entries(counts).filter(([index]) => !indices.has(Number(index))));
}

/** @throws for a run that is no child record: a fault of the caller */
function batchOf({ batch }: RunState["header"]) {
  if (batch === undefined) throw new Error("this run is no child record of a Map");
  return batch;
}

const workOf = (run: RunTurn): BatchWork => run.inLine(null, () => run.workOf("batch"));
