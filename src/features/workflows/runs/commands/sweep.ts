/** What commands leave on a host: taken away once no run works with them any more. */

import { isUuid } from "../../../../http/route.ts";
import { repeatedly } from "../../../../lib/timers.ts";
import type { HeldByRuns } from "../../../executions/port.ts";
import { Attempts } from "./attempts.ts";

export interface CommandSweepOptions {
  /** Absolute path. */
  readonly dataDir: string;
  readonly runs: HeldByRuns;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

const everyMs = 300_000;
const lookUpAtOnce = 1_000;

/** Sweeps now and then; several nodes of a host may at once. @returns a function that ends it, after a round under way */
export function startSweepingCommands(options: CommandSweepOptions): () => Promise<void> {
  return repeatedly(
    everyMs,
    () => sweepCommands(options),
    (error) => options.report("command_sweep_failed", { error: String(error) }),
  );
}

/** One round. @throws when the store is away */
export async function sweepCommands({ dataDir, runs, report }: CommandSweepOptions): Promise<void> {
  const attempts = new Attempts(dataDir);
  const held: { readonly commandId: string; readonly executionId: string }[] = [];
  for (const commandId of await attempts.list()) {
    const executionId = (await attempts.read(commandId))?.executionId ?? "";
    if (isUuid(executionId)) held.push({ commandId, executionId });
  }
  const wanted = new Set<string>();
  const ids = [...new Set(held.map(({ executionId }) => executionId))];
  for (let start = 0; start < ids.length; start += lookUpAtOnce) {
    const known = await runs.known(ids.slice(start, start + lookUpAtOnce));
    const live = known.filter(({ ended_at }) => ended_at === null);
    for (const [tenant, rows] of Map.groupBy(live, (row) => row.tenant)) {
      const instances = await runs.wantedInstances(
        tenant,
        rows.map((row) => row.id),
      );
      for (const id of instances) wanted.add(id);
    }
  }
  for (const { commandId, executionId } of held) {
    if (wanted.has(commandId)) continue;
    report("command_forgotten", { command_id: commandId, execution_id: executionId });
    await attempts.forget(commandId);
  }
}
