/** A node of its own that runs one command, for a test that kills it. Its settings are its argument, as JSON. */
import type { CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import { createProcessSandbox } from "../../../../../src/adapters/sandbox/process/process-sandbox.ts";
import { commandActivity } from "../../../../../src/features/workflows/runs/commands/commands.ts";
import { type StoreAddress, startTestNode } from "../../../../harness/runtime/runtime.ts";
import { commandOptions } from "./command-fixture.ts";

export interface CommandProgram {
  readonly stores: StoreAddress;
  readonly dataDir: string;
  readonly work: CommandRun;
}

const { stores, dataDir, work } = JSON.parse(process.argv[2] ?? "") as CommandProgram;
const sandbox = await createProcessSandbox({
  dataDir,
  bubblewrap: true,
  allowUnsandboxed: false,
  hostPrograms: false,
  warn: () => {},
});
const { runtime } = await startTestNode(stores, { activities: [commandActivity(commandOptions(dataDir, [sandbox]))] });
const id = `command:${work.instance_id}`;
await runtime.ask({ kind: "counter", key: crypto.randomUUID(), tenant: "acme" }, "work", {
  activity: "workflow.command",
  id,
  input: work,
});
