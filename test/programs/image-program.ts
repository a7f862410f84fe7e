/** Runs one agent's instance as a node in production would, and prints how it was held and how it ended. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessSandbox } from "../../src/adapters/sandbox/process/process-sandbox.ts";
import { shellProgram } from "../adapters/sandbox/fixture.ts";
import { runToEnd, specOf } from "../adapters/sandbox/instances.ts";

const dataDir = mkdtempSync(join(tmpdir(), "svc-image-"));
const options = { dataDir, bubblewrap: true, allowUnsandboxed: false, hostPrograms: false };
const sandbox = await createProcessSandbox({ ...options, program: shellProgram, warn: console.error });
const workspace = (executionId: string) => {
  const path = join(dataDir, "workspaces", executionId);
  mkdirSync(path, { recursive: true });
  return path;
};
const script = "id -u; echo x > /workspace/x && ls /proc | grep -c '^[0-9]'; unshare -U true 2>/dev/null || echo held";
const { exit } = await runToEnd(sandbox, specOf({ workspace }, script));
console.log(JSON.stringify({ ...sandbox.describe(), exit }));
process.exit(0);
