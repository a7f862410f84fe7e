/** Launches an instance, and stops itself while it writes what the instance needs. Arguments: data directory, specification. */
import type { InstanceSpec } from "../../../../src/adapters/sandbox/instance.ts";
import { createProcessSandbox } from "../../../../src/adapters/sandbox/process/process-sandbox.ts";
import { shellProgram } from "../fixture.ts";

const [dataDir = "", text = "{}"] = process.argv.slice(2);
const spec = JSON.parse(text) as InstanceSpec;
const sandbox = await createProcessSandbox({
  dataDir,
  bubblewrap: false,
  allowUnsandboxed: true,
  hostPrograms: true,
  program: shellProgram,
  warn() {},
});
let isWritten = false;
const limits = {
  ...spec.limits,
  toJSON() {
    if (!isWritten) process.kill(process.pid, "SIGSTOP");
    isWritten = true;
    return spec.limits;
  },
};
await sandbox.launch({ ...spec, limits }, () => {});
