/** What the log says of containers. */
import { shortened } from "../../../../execution/ending.ts";
import type { CommandEnd } from "../../activities.ts";
import type { RunTurn } from "../../turn.ts";

/**
 * A container's name as the log tells it; one that is blank once rendered is told by `otherwise`.
 * @throws TemplateError
 */
export function shownName(run: RunTurn, template: string, otherwise: string): string {
  const name = run.render(template).trim();
  return name === "" ? otherwise : shortened(name);
}

export function noteStarted(run: RunTurn, step: string, image: string): void {
  run.emit("ContainerRunStarted", {
    message: `The container ${step} was asked for`,
    state_name: run.current.name,
    details: { state_name: run.current.name, step, image },
  });
}

/** A command that came to an exit code of its own has completed, with any code; anything else has failed. */
export function noteEnded(run: RunTurn, step: string, end: CommandEnd): void {
  const state_name = run.current.name;
  const { exit_code, duration_ms } = end;
  if (exit_code !== null && end.error === null) {
    run.emit("ContainerRunCompleted", {
      message: `The container ${step} ended with ${exit_code}`,
      state_name,
      details: { state_name, step, exit_code, duration_ms },
    });
    return;
  }
  noteFailed(run, step, end.error ?? "failed");
}

export function noteFailed(run: RunTurn, step: string, error: string): void {
  const state_name = run.current.name;
  run.emit("ContainerRunFailed", {
    message: `The container ${step} failed: ${error}`,
    state_name,
    details: { state_name, step, error },
  });
}
