/** How a turn of a child record closes, and how the record itself does. */
import type { Json } from "../../../kernel/json.ts";
import { leaveState } from "../entering.ts";
import { leaveLines } from "../lines.ts";
import { workflowRunProtocol } from "../messages.ts";
import type { RunTurn } from "../turn.ts";
import type { Line } from "../work.ts";
import { batchOf, row, underWay, workOf } from "./item-rows.ts";
import type { FirstWait, ItemRow } from "./progress.ts";
import { itemsFact } from "./rows.ts";

/** News of single items is told at most so often, ms, where nothing waits for it. */
const tellEveryMs = 1_000;

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
  else if (write(run)) tellLast(run);
  run.change({ status: "cancelled" });
}

/** The run may have been erased since it closed this record: it hears of rows that came after that, and removes them. */
function tellLast(run: RunTurn): void {
  const { seq, returned, orders, succeeded } = workOf(run);
  const said = { seq: seq + 1, succeeded, failed: 0, cancelled: 0, todo: 0, returned, orders, is_gone: true };
  const { run_id } = batchOf(run.state.header);
  run.tell(workflowRunProtocol, run_id, "items_reported", { batch: run.id, ...said }, { coCommit: true });
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
  const wait = firstWait(lines);
  const isNews =
    told.failed !== failed || told.cancelled !== cancelled || told.orders !== orders || !isSame(told.wait, wait);
  const isDue = told.succeeded !== succeeded && run.now - told.at >= tellEveryMs;
  if (surplus === 0 && !isOver && !isNews && !isDue) return;
  const seq = work.seq + 1;
  const waits = wait === undefined ? {} : { wait };
  const returned = work.returned + surplus;
  const is_gone = isOver && kept.length === 0;
  run.work({
    ...work,
    seq,
    returned,
    slots: slots - surplus,
    told: { succeeded, failed, cancelled, orders, at: run.now, ...waits },
  });
  const waiting = Math.max(0, todo.length - Math.max(0, slots - lines.length));
  const said = { seq, succeeded, failed, cancelled, todo: waiting, returned, orders, ...waits };
  const { run_id } = batchOf(run.state.header);
  run.tell(workflowRunProtocol, run_id, "items_reported", { batch: run.id, ...said, is_gone }, { coCommit: true });
  if (is_gone) run.change({ status: "completed" });
}

/** The Wait among the items at work whose time is up first. */
function firstWait(lines: readonly Line[]): FirstWait | undefined {
  const open = lines.flatMap(({ current }): FirstWait[] =>
    current?.work.of === "wait" ? [{ kind: current.work.on, expires_at: current.work.until }] : [],
  );
  const at = ({ expires_at }: FirstWait): number => expires_at ?? Number.MAX_SAFE_INTEGER;
  return open.toSorted((one, other) => at(one) - at(other))[0];
}

const isSame = (one: FirstWait | undefined, other: FirstWait | undefined): boolean =>
  one?.kind === other?.kind && one?.expires_at === other?.expires_at;

/**
 * Puts on record what became of items in this turn: those that ended, and those that began or go on differently.
 * @returns whether there were any
 */
function write(run: RunTurn): boolean {
  const work = workOf(run);
  const before = linesBefore(run);
  const begun = work.lines.flatMap((line) => {
    const [now, then] = [shownOf(line), before.get(line.name)];
    if (then !== undefined && then.attempts === now.attempts && then.execution_id === now.execution_id) return [];
    const attempts = now.attempts + (work.earlier[line.name] ?? 0);
    return [{ ...row(Number(line.name), "running", attempts), execution_id: now.execution_id }];
  });
  const rows = [...work.news, ...begun];
  if (rows.length === 0) return false;
  run.work({ ...work, news: [] });
  const { run_id, state_name, visit, attempt = 1 } = batchOf(run.state.header);
  run.fact(itemsFact, { of: "items", run_id, state_name, visit, attempt, items: rows });
  forget(run, rows);
  return true;
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
