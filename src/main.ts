/** Starts a node, and stops it when asked to. `--help` prints every setting. */

import { ConfigError } from "./config/load.ts";
import { StartFailure } from "./lib/start-failure.ts";
import { banner } from "./node/banner.ts";
import { configNotes, configTable, loadConfig } from "./node/config.ts";
import { startNode } from "./node/node.ts";

const programs = `Beside it, with the same settings:
  npm run -s agent                  runs an agent and follows it
  npm run -s dead-letters -- --help messages that failed for good: look at them, send them again`;

if (process.argv.includes("--help")) {
  const about = "Durable execution of AI agents. Settings come from the environment:";
  console.log([about, configTable(), ...configNotes(), programs].join("\n\n"));
  process.exit(0);
}

try {
  const config = loadConfig(process.env);
  const node = await startNode(config, (line) => console.log(line));
  console.log(banner(config, node));

  let asked = false;
  const leave = () => {
    if (asked) process.exit(130);
    asked = true;
    // Whatever is not done by then is taken over by other nodes, or resumed at the next start.
    setTimeout(() => process.exit(0), config.drainSeconds * 1000);
    void node.stop().then(() => process.exit(0));
  };
  process.on("SIGTERM", leave);
  process.on("SIGINT", leave);
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : `The service cannot start: ${explain(error)}`);
  process.exit(1);
}

function explain(error: unknown): string {
  if (error instanceof StartFailure) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
