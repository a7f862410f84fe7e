/** Lines: the ways that a Branch, or a child record of items, goes at once. */
import { notesBytes } from "./blackboard/notes.ts";
import type { RunTurn } from "./turn.ts";
import { type Line, linesOf } from "./work.ts";

/** A line that begins at a state. */
export const lineTo = (name: string, target: string, notes: Line["notes"] = {}): Line => ({
  name,
  current: null,
  next: { target, feedback: null },
  notes,
  last: null,
  end: null,
});

/** What the line in focus wrote is forgotten: it has ended. */
export function dropNotes(run: RunTurn): void {
  const { line } = run;
  if (line === null) return;
  if (line.bytes === undefined) {
    run.change({ blackboard_bytes: run.state.blackboard_bytes - notesBytes(line.notes) });
    run.changeLine({ notes: {} });
  } else run.changeLine({ notes: {}, bytes: 0 });
}

/** Gives up what every line of the state at work is at that has not ended. @param leave of the line in focus */
export function leaveLines(run: RunTurn, leave: () => void): void {
  for (const { name, end } of linesOf(run.current)) {
    if (end !== null) continue;
    run.inLine(name, () => {
      leave();
      run.move({ next: null });
    });
  }
}
