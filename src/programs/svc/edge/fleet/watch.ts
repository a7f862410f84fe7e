/** Begins or joins a run and follows it to its end, or leaves it going when it is interrupted. */

import type { Exit } from "../../process/exits.ts";
import type { Environment } from "../command/environment.ts";
import { Failure } from "../command/exit.ts";
import type { Output } from "../command/output.ts";
import type { Service } from "../service/client.ts";
import { followRun } from "./follow.ts";
import { createLive } from "./live.ts";
import { exitOfRun, type RunEnd } from "./result.ts";

export interface WatchOptions {
  readonly service: Service;
  readonly environment: Environment;
  readonly output: Output;
  /** A run that is there already. */
  readonly runId?: string;
  /** A POST that begins one. */
  readonly begin?: { readonly path: string; readonly body: unknown };
}

/** @returns by the run's end @throws Failure */
export async function watchRun({ service, environment, output, runId, begin }: WatchOptions): Promise<Exit> {
  let known = runId ?? null;
  // The same key again begins no second run, should the first answer be lost.
  const idempotencyKey = crypto.randomUUID();
  const following = followRun({
    service,
    begin:
      begin === undefined
        ? null
        : (signal) => service.stream("POST", begin.path, { body: begin.body, idempotencyKey, signal }),
    runId: known,
    named: (id) => {
      known = id;
    },
    tell: createLive(output),
    note: output.note,
    interrupted: environment.interruption(),
  });
  try {
    const followed = await following;
    if (followed !== "interrupted") return exitOfRun(endOf(followed.end));
    throw new Failure(
      "failed",
      known === null ? "interrupted; fleet runs tells what began" : "interrupted",
      "interrupted",
    );
  } catch (error) {
    if (known !== null)
      output.note(
        [`run ${known} goes on`, `  svc edge fleet runs ${known} --follow`, `  svc edge fleet cancel ${known}`].join(
          "\n",
        ),
      );
    throw error;
  }
}

function endOf({ status, reason, summary }: Readonly<Record<string, unknown>>): RunEnd {
  return {
    status: String(status),
    reason: typeof reason === "string" ? reason : null,
    // The last event has it always (docs/reference/edge.md).
    summary: summary as RunEnd["summary"],
  };
}
