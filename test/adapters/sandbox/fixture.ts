/** Process adapters over a data directory of their own, removed afterwards. */
import { chownSync, mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { findBubblewrap } from "../../../src/adapters/sandbox/process/bubblewrap/bubblewrap.ts";
import { findCgroups } from "../../../src/adapters/sandbox/process/cgroup.ts";
import { Layout, prepareLayout } from "../../../src/adapters/sandbox/process/layout.ts";
import {
  createProcessSandbox,
  type ProcessSandboxOptions,
} from "../../../src/adapters/sandbox/process/process-sandbox.ts";
import { makeSocketFolder } from "../../../src/lib/sockets/tenant-sockets.ts";
import { scratch } from "../../harness/scratch.ts";
import { type SandboxFixture, sampleTenant } from "./instances.ts";

/** Runs its one argument, the prompt, as a shell script. */
export const shellProgram = ["/bin/sh", "-c", 'eval "$1"', "agent"] as const;

export async function processFixture(
  changes: Partial<ProcessSandboxOptions> = {},
): Promise<SandboxFixture & { readonly dataDir: string; readonly warnings: string[] }> {
  const dataDir = scratch("sandbox");
  const warnings: string[] = [];
  const options: ProcessSandboxOptions = {
    dataDir,
    bubblewrap: true,
    allowUnsandboxed: true,
    hostPrograms: true,
    program: shellProgram,
    warn: (message) => warnings.push(message),
    ...changes,
  };
  const sandbox = await createProcessSandbox(options);
  const held = sandbox.describe().sandbox === "bubblewrap";
  const layout = new Layout(dataDir);
  const agents = (path: string) => {
    mkdirSync(path, { recursive: true });
    if (held && process.getuid?.() === 0) chownSync(path, 1_000, 1_000);
    return path;
  };
  return {
    dataDir,
    warnings,
    sandbox,
    holds: { mounts: held, pause: changes.cgroups !== false && canFreeze(), network: held },
    workspace: (executionId) => agents(layout.workspace(executionId)),
    volume: () => agents(join(dataDir, "volumes", crypto.randomUUID())),
    gatewaySocket: (name) => join(makeSocketFolder(layout.gateway, sampleTenant), `${name}.sock`),
    egressSocket: (name) => join(makeSocketFolder(layout.egress, sampleTenant), `${name}.sock`),
    another: () => createProcessSandbox(options),
    async dispose() {
      for (const { instanceId } of await sandbox.list()) await sandbox.remove(instanceId);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function canFreeze(): boolean {
  const cgroups = findCgroups();
  return cgroups?.version === 2 || cgroups?.directories.freezer !== undefined;
}

/** Whether bubblewrap really works on this machine; says so loudly when it does not. */
export async function bubblewrapWorks(): Promise<boolean> {
  const dataDir = scratch("sandbox-probe");
  const layout = new Layout(dataDir);
  prepareLayout(layout);
  const found = (await findBubblewrap(layout)) !== null;
  await rm(dataDir, { recursive: true, force: true });
  if (!found) console.error("\n!!! bubblewrap does not work here: ISOLATION IS NOT TESTED on this machine !!!\n");
  return found;
}
