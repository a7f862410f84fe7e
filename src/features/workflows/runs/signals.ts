/** A signal to a run: the run says where it goes; an answer to an approval is then handed to that approval. */
import type { Decider, Source } from "../../../../actors/approval/messages.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Approvals } from "../../approvals/port.ts";
import type { FoundRun } from "./log/history.ts";
import type { RunSignal } from "./request.ts";
import type { SignalAnswer } from "./schema.ts";
import type { Runs } from "./service.ts";

export interface SignalOptions {
  readonly runs: Pick<Runs, "signal">;
  readonly approvals: Pick<Approvals, "signal" | "lastDecision">;
}

/** Who signals. */
export interface Signaller {
  readonly by: Decider;
  readonly source: Source;
  /** The piece of work that it is, if it may be repeated; null: it comes once. */
  readonly workId: string | null;
}

export function signals({ runs, approvals }: SignalOptions) {
  /**
   * @throws Problem 403 `approver_not_allowed`; 404; 409 `execution_already_terminal`, `approval_already_decided`,
   *   `no_open_approval`, which tells the last decision; 429 `signal_buffer_full`
   */
  return async ({ at }: FoundRun, signal: RunSignal, { by, source, workId }: Signaller): Promise<SignalAnswer> => {
    const { tenant, key } = at;
    const reply = await runs.signal(at, signal, workId);
    switch (reply.outcome) {
      case "taken":
        return { status: "signal_sent", execution_id: key };
      case "buffered":
        return { status: "buffered", execution_id: key };
      case "approval": {
        const { approval_id: approvalId } = reply;
        const { signalName, text, payload } = signal;
        await approvals.signal({ tenant, approvalId, by, source, signalName, text, payload });
        return { status: "signal_sent", execution_id: key, approval_id: approvalId };
      }
      default: {
        const last = await approvals.lastDecision(tenant, key);
        throw new Problem("no_open_approval", "The execution waits for no approval", last ?? {});
      }
    }
  };
}
