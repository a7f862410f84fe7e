/**
 * The daemon as a process of its own for tests: `--state-dir`, `--config`, `--once`, or `file-tool` as the daemon starts
 * it itself. `EDGE_TEST_CLOCK` names a file with the milliseconds by which the machine's clock is off.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const clockFile = process.env.EDGE_TEST_CLOCK;
const offset = () => (clockFile === undefined ? 0 : Number(readFileSync(clockFile, "utf8")));

if (process.argv[2] === "file-tool") {
  const { serveFileTool } = await import("../../../src/programs/edge-daemon/executor/file-tool-program.ts");
  await serveFileTool();
  process.exit(0);
}
const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    "state-dir": { type: "string" },
    config: { type: "string" },
    once: { type: "boolean" },
    version: { type: "string" },
  },
});
const { runDaemon } = await import("../../../src/programs/edge-daemon/daemon.ts");
const code = await runDaemon({
  stateDir: values["state-dir"],
  config: values.config,
  once: values.once ?? false,
  fileToolProgram: [process.execPath, ...(existsSync(Bun.main) ? [Bun.main] : []), "file-tool"],
  clocks: { wall: () => Date.now() + offset(), steady: () => performance.now() },
  ...(values.version === undefined ? {} : { agentVersion: values.version }),
});
process.exit(code);
