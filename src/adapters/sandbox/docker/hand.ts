/** Running a command inside a container from outside: the engine starts the hand in it. */
import { chmodSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { agentUser } from "../../../lib/files/agent-files.ts";
import { writeAtomically } from "../../../lib/files/json-file.ts";
import type { HandOrder } from "../../../programs/hand/main.ts";
import { type ExecResult, HandAnswer, type InsideCommand } from "../inside.ts";
import { instancePaths, sandboxEnvironment } from "../instance-environment.ts";
import { defaults, readImageEnvironment } from "./assignment-plan.ts";
import type { Engine } from "./engine.ts";
import { controlInside } from "./keeper/protocol.ts";
import type { LaunchRecord } from "./paths.ts";
import type { ContainerPrograms } from "./programs.ts";

export interface ContainerPlace {
  readonly engine: Engine;
  readonly programs: ContainerPrograms;
  readonly directory: string;
  readonly record: LaunchRecord;
}

/** @returns null where the container ended, or the hand was ended in it */
export async function runInContainer(
  { engine, programs, directory, record }: ContainerPlace,
  { request, environment: given, egress }: InsideCommand,
  signal: AbortSignal,
): Promise<ExecResult | null> {
  const { environment } = sandboxEnvironment(
    given,
    {
      workspace: instancePaths.workspace,
      gatewaySockets: instancePaths.gateway,
      egressSockets: egress === null ? null : instancePaths.egress,
      promptFile: null,
      startupFile: null,
      relay: true,
      egress,
    },
    { ...defaults, ...readImageEnvironment(record.imageEnvironment ?? []) },
  );
  const order: HandOrder = { request, environment, workspace: instancePaths.workspace };
  // The engine keeps what a command is started with; this directory is the instance's alone.
  const name = `hand-${crypto.randomUUID()}`;
  const file = join(directory, "control", name);
  await writeAtomically(file, JSON.stringify(order));
  chmodSync(file, 0o644);
  const answer = new HandAnswer();
  try {
    const argv = [...programs.hand, join(controlInside, name)];
    await engine.exec(record.container, { argv, user: `${agentUser}:${agentUser}` }, signal, (bytes) =>
      answer.add(bytes),
    );
    signal.throwIfAborted();
    return answer.read();
  } finally {
    await rm(file, { force: true });
  }
}
