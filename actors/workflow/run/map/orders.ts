/** Orders for single items of a child record: one is tried again, or given up. */
import { tellParent } from "../children/child-waits.ts";
import { leaveState } from "../entering.ts";
import type { RunTurn } from "../turn.ts";
import { row, underWay, without, workOf } from "./item-rows.ts";
import type { Order } from "./messages.ts";

/** Tries an item again, or gives one up. @returns the status in which it is, where that cannot be done */
export function order(run: RunTurn, index: number, what: Order): string | null {
  const work = workOf(run);
  run.work({ ...work, orders: work.orders + 1 });
  return what === "retry" ? tryAgain(run, index) : cancel(run, index);
}

function tryAgain(run: RunTurn, index: number): string | null {
  const work = workOf(run);
  const kept = work.kept.find((one) => one.index === index);
  if (kept !== undefined) {
    run.work({
      ...work,
      kept: work.kept.filter((one) => one !== kept),
      todo: [...work.todo, index],
      earlier: { ...work.earlier, [index]: kept.attempts },
      news: [...work.news, row(index, "pending", kept.attempts)],
    });
    return null;
  }
  if (work.lines.some(({ name }) => name === String(index))) return "running";
  return work.todo.includes(index) ? "pending" : "completed";
}

function cancel(run: RunTurn, index: number): string | null {
  const work = workOf(run);
  const line = work.lines.find(({ name }) => name === String(index));
  if (line !== undefined) {
    const attempts = (line.current?.attempt ?? 1) + (work.earlier[line.name] ?? 0);
    const id = underWay(line);
    run.inLine(line.name, () => leaveState(run, "cancelled"));
    giveUp(run, index, attempts, id);
    // A tool call of its may have waited for a person.
    if ((line.current?.waits ?? []).length > 0) tellParent(run);
    return null;
  }
  if (work.todo.includes(index)) {
    giveUp(run, index, work.earlier[index] ?? 0, null);
    return null;
  }
  const kept = work.kept.find((one) => one.index === index);
  return kept?.status === "cancelled" ? null : (kept?.status ?? "completed");
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
