/** Starts a node, and stops it when asked to. `--help` prints every setting. */

import { ConfigError } from "./config/load.ts";
import { StartFailure } from "./lib/start-failure.ts";
import { banner } from "./node/banner.ts";
import { configNotes, configTable, loadConfig } from "./node/config.ts";
import { startNode } from "./node/node.ts";
import { handleStopSignals } from "./node/stop-signals.ts";

const programs = `Beside it, with the same settings:
  npm run -s agent                  runs an agent and follows it
  npm run -s dead-letters -- --help messages that failed for good: look at them, send them again
  npm run -s migrate                brings the schema up to date, ahead of an upgrade`;

if (process.argv.includes("--help")) {
  const about = "Durable execution of AI agents. Settings come from the environment:";
  console.log([about, configTable(), ...configNotes(), programs].join("\n\n"));
  process.exit(0);
}

try {
  const config = loadConfig(process.env);
  // Of a terminal that is gone nothing can be said any more.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const starting = startNode(config, (line) => console.log(line));
  handleStopSignals({
    // Asked while it starts, it stops once it has: its stores would be left running otherwise.
    stop: async () => (await starting).stop(),
    say: (line) => console.log(line),
    exit: (code) => process.exit(code),
    now: Date.now,
  });
  console.log(banner(config, await starting));
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : `The service cannot start: ${explain(error)}`);
  process.exit(1);
}

function explain(error: unknown): string {
  if (error instanceof StartFailure) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
