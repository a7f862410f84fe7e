/** Ending an instance from any node: by its supervisor where that lives, else by killing its processes. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeAtomically } from "../../../../lib/files/json-file.ts";
import { isAlive, signal } from "../../../../lib/processes/process-table.ts";
import { readExit } from "../follow.ts";
import {
  type ExitRecord,
  type LaunchPlan,
  type SupervisorRecord,
  type TerminationRequest,
  takeClaim,
} from "../layout.ts";
import { killProcesses, removeGroups } from "./cleanup.ts";

/** How much longer than the grace a supervisor may take before it is ended itself. */
const supervisorMarginMs = 3_000;
const startMarginMs = 2_000;
const pollMs = 20;

/** Resolves once nothing of the instance runs any more and its exit is on file. Repeatable. */
export async function terminateInstance(directory: string, graceMs: number): Promise<void> {
  if ((await readExit(directory)) !== null) return;
  // Never started: taking the claim makes sure that it never will be.
  if (takeClaim(directory)) return leaveTerminated(directory);
  const supervisor = await poll(startMarginMs, () => readJson<SupervisorRecord>(join(directory, "supervisor.json")));
  if (supervisor !== null && isAlive(supervisor)) {
    const request: TerminationRequest = { graceMs };
    await writeAtomically(join(directory, "end.json"), JSON.stringify(request));
    signal(supervisor.pid, "SIGTERM");
    const ended = await poll(
      graceMs + supervisorMarginMs,
      async () => (await readExit(directory)) ?? (isAlive(supervisor) ? null : "died"),
    );
    if (ended === null) signal(supervisor.pid, "SIGKILL");
  }
  if ((await readExit(directory)) !== null) return;
  const plan = await readJson<LaunchPlan>(join(directory, "launch.json"));
  const cgroups = supervisor?.cgroups ?? [];
  await killProcesses({ root: null, cgroups, mark: plan?.mark ?? null });
  await removeGroups(cgroups);
  await leaveTerminated(directory);
}

async function leaveTerminated(directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  const exit: ExitRecord = { reason: "terminated", exitCode: null };
  await writeAtomically(join(directory, "exit.json"), JSON.stringify(exit));
}

/** Asks again and again until there is an answer or the time is over. */
async function poll<T>(ms: number, ask: () => Promise<T | null>): Promise<T | null> {
  const until = performance.now() + ms;
  while (true) {
    const answer = await ask();
    if (answer !== null || performance.now() >= until) return answer;
    await Bun.sleep(pollMs);
  }
}
