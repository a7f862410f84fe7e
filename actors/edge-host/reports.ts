/** What a daemon says of commands over its link. */
import type { Report, ReportReply } from "./messages.ts";
import type { HostCommand } from "./state.ts";
import type { HostTurn } from "./turn.ts";

type Ended = ReportReply["ended"];

/** @param isCurrent whether the link is the open one @returns the command that it ended, if it did */
export function take(turn: HostTurn, report: Report, isCurrent: boolean): Ended {
  if (report.type === "capabilities") {
    if (isCurrent) turn.describe(report.capabilities);
    return [];
  }
  const { command_id } = report;
  const command = turn.find(command_id);
  const isWritten = report.type === "started" || report.result.error_kind !== "io_error";
  if (isCurrent) noteFirst(turn, command_id, command, isWritten);
  if (report.type === "started") {
    const current = turn.find(command_id);
    if (isCurrent && current?.status === "dispatched") turn.run(current);
    return [];
  }
  turn.state.strays = turn.state.strays.filter((stray) => stray.command_id !== command_id);
  if (command === undefined) {
    turn.late(command_id, report.result);
    return [];
  }
  const reason = report.status === "cancelled" ? (command.cancelled?.reason ?? null) : null;
  const { error_kind } = report.result;
  turn.end(command, { status: report.status, error_kind, reason, result: report.result });
  return [{ command_id, run_id: command.run_id, tool: command.tool }];
}

/**
 * Counts a command that the daemon speaks of first since its hello: its journal has at least one record more, unless the
 * journal could not be written.
 */
function noteFirst(turn: HostTurn, id: string, command: HostCommand | undefined, isWritten: boolean): void {
  const { state } = turn;
  const stray = state.strays.find(({ command_id }) => command_id === id);
  if ((command ?? stray)?.reported !== false) return;
  if (command !== undefined) turn.change(command, { reported: true });
  else state.strays = state.strays.map((one) => (one === stray ? { ...one, reported: true } : one));
  if (isWritten && state.journal !== null) state.journal = { ...state.journal, reported: state.journal.reported + 1 };
}
