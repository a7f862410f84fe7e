/** Takes back calls whose execution or session has ended; the news of that may be lost with a node. */
import { execution } from "../../../actors/execution/execution.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { WaitingRecords } from "./records.ts";

export interface WaitingSweepOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: WaitingRecords;
  readonly isSessionOver: (tenant: string, sessionId: string) => Promise<boolean>;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

const everyMs = 5000;
const atOnce = 200;
const first = "00000000-0000-0000-0000-000000000000";

export function startWaitingSweep({ runtime, records, isSessionOver, warn }: WaitingSweepOptions): () => Promise<void> {
  async function reasonToEnd(row: Awaited<ReturnType<WaitingRecords["owned"]>>[number]): Promise<string | null> {
    const { tenant, execution_id, session_id } = row;
    if (execution_id !== null) {
      const state = await runtime.of(execution).at(tenant, execution_id).read();
      if (state === null || isOver(state)) return "The execution has ended";
    }
    if (session_id !== null && (await isSessionOver(tenant, session_id))) return "The session has ended";
    return null;
  }

  async function round(): Promise<void> {
    let after = first;
    for (;;) {
      const rows = await records.owned(after, atOnce);
      for (const row of rows) {
        const reason = await reasonToEnd(row);
        const { tenant, invocation_id } = row;
        if (reason !== null) await runtime.of(toolCall).at(tenant, invocation_id).tell("withdraw", { reason });
      }
      after = rows.at(-1)?.invocation_id ?? after;
      if (rows.length < atOnce) break;
    }
    await records.clear();
  }
  return repeatedly(everyMs, round, (error) => warn("waiting_calls_sweep", { error: String(error) }));
}
