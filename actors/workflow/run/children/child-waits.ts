/**
 * Tool calls of what a state started wait for people: the timeout of the state stands still as long as the clocks of a
 * child do, and so do those of the states above it. How long that will be is not known, so the deadline is put off by the
 * most that it may be, and brought back to what was really waited.
 */
import type { ChildWaiting } from "../../../execution/child.ts";
import { workflowRunProtocol } from "../messages.ts";
import { stateTimer } from "../state.ts";
import type { RunTurn } from "../turn.ts";
import { type Current, type Line, linesOf } from "../work.ts";

export function childWaiting(run: RunTurn, { child_execution_id: child, ...news }: ChildWaiting): void {
  const others = (run.current.waits ?? []).filter((one) => one.child !== child);
  const isOver = news.waiting === null && news.since === null;
  run.move({ current: { ...run.current, waits: isOver ? others : [...others, { child, ...news }] } });
  keepClock(run);
  // A Branch follows its lines when the turn is over.
  if (run.focus === null || run.state.current?.work.of !== "branch") tellParent(run);
}

/** A Branch waits for whom its lines wait for, and its clock stands still as long as that of one of their states does. */
export function followLines(run: RunTurn): void {
  const { current } = run.state;
  if (current?.work.of !== "branch") return;
  const { waits: had = [] } = current;
  const waits = current.work.lines.flatMap(waitOf);
  if (JSON.stringify(had) === JSON.stringify(waits)) return;
  run.move({ current: { ...current, waits } });
  keepClock(run);
  tellParent(run);
}

function waitOf({ name, current }: Line): NonNullable<Current["waits"]> {
  const waiting = current === null ? null : firstWait(current);
  const { stands } = current ?? {};
  if (waiting === null && stands === undefined) return [];
  return [{ child: name, waiting, since: stands?.since ?? null, most_ms: stands?.lent_ms ?? 0 }];
}

/** The open approval of a child that ends first; null: none is open. */
export function firstWait({ waits = [] }: Pick<Current, "waits">) {
  const open = waits.flatMap(({ waiting }) => (waiting === null ? [] : [waiting]));
  return open.sort((one, other) => one.expires_at - other.expires_at)[0] ?? null;
}

function keepClock(run: RunTurn): void {
  const { waits = [], stands, ...current } = run.current;
  const standing = waits.flatMap(({ since, most_ms }) => (since === null ? [] : [{ since, until: since + most_ms }]));
  if (standing.length > 0) {
    const since = stands?.since ?? Math.min(run.now, ...standing.map((one) => one.since));
    const until = Math.max(since + (stands?.lent_ms ?? 0), ...standing.map((one) => one.until));
    run.move({ current: { ...current, waits, stands: { since, lent_ms: until - since } } });
    putOff(run, until - since - (stands?.lent_ms ?? 0));
  } else if (stands !== undefined) {
    run.move({ current: { ...current, waits } });
    putOff(run, Math.min(stands.lent_ms, Math.max(0, run.now - stands.since)) - stands.lent_ms);
  }
}

function putOff(run: RunTurn, by: number): void {
  const { current } = run;
  const { entry } = current;
  if (current.deadline_at === null || by === 0) return;
  const deadline_at = current.deadline_at + by;
  run.move({ current: { ...current, deadline_at } });
  run.cancelTimer(stateTimer(entry));
  run.schedule(stateTimer(entry), deadline_at, "state_overdue", { entry });
}

/** The state above waits for this run; of a child record of items, the Map does. */
export function tellParent(run: RunTurn): void {
  const { parent, batch } = run.state.header;
  if (batch !== undefined) {
    run.tell(workflowRunProtocol, batch.run_id, "child_waiting", { child_execution_id: run.id, ...ofLines(run) });
    return;
  }
  if (parent === null || !parent.waits) return;
  const { stands } = run.current;
  run.tell(workflowRunProtocol, parent.told ?? parent.execution_id, "child_waiting", {
    child_execution_id: run.id,
    waiting: firstWait(run.current),
    since: stands?.since ?? null,
    most_ms: stands?.lent_ms ?? 0,
  });
}

/** What the lines wait for together. */
function ofLines(run: RunTurn): Omit<ChildWaiting, "child_execution_id"> {
  const lines = linesOf(run.state.current).flatMap(({ current }) => (current === null ? [] : [current]));
  const standing = lines.flatMap(({ stands }) => (stands === undefined ? [] : [stands]));
  const first = firstWait({ waits: lines.flatMap(({ waits = [] }) => waits) });
  if (standing.length === 0) return { waiting: first, since: null, most_ms: 0 };
  const since = Math.min(...standing.map((one) => one.since));
  const until = Math.max(...standing.map((one) => one.since + one.lent_ms));
  return { waiting: first, since, most_ms: until - since };
}
