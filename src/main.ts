/** Starts a node, or as many as SVC_NODES says, and stops them when asked to. `--help` prints every setting. */

import { ConfigError } from "./config/load.ts";
import { StartFailure } from "./lib/start-failure.ts";
import { banner } from "./node/banner.ts";
import { type Config, configNotes, configTable, loadConfig } from "./node/config.ts";
import { startNode } from "./node/node.ts";
import { handleStopSignals, stopHandler } from "./node/stop-signals.ts";
import { addressesOf, sharedBy, spawnNode, tellReady, whenAbandoned } from "./node/supervised.ts";
import { keepAddresses, startSupervisor } from "./node/supervisor.ts";

const programs = `The command line: npm run -s svc -- --help

Beside it, with the same settings:
  npm run -s waiting-messages -- --help messages that wait for another version: look at them, drop them
  npm run -s partitions -- --help   changes the number of partitions, with the nodes stopped
  npm run -s migrate                brings the schema up to date, ahead of an upgrade`;

if (process.argv.includes("--help")) {
  const about = "Durable execution of AI agents. Settings come from the environment:";
  console.log([about, configTable(), ...configNotes(), programs].join("\n\n"));
  process.exit(0);
}

// Of a terminal that is gone nothing can be said any more.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
const say = (line: string) => console.log(line);
const exit = (code: number) => process.exit(code);

try {
  const config = loadConfig(process.env);
  const shared = sharedBy();
  if (shared !== null) await runSupervised({ ...config, nodes: shared });
  else if (config.nodes > 1) await runAll(config);
  else await runOne(config);
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : `The service cannot start: ${explain(error)}`);
  process.exit(1);
}

async function runOne(config: Config): Promise<void> {
  const starting = startNode(config, say);
  // Asked while it starts, it stops once it has: its stores would be left running otherwise.
  handleStopSignals({ stop: async () => (await starting).stop(), say, exit, now: () => performance.now() });
  say(banner(config, await starting));
}

/** One of several nodes; the supervisor speaks for all of them. */
async function runSupervised(config: Config): Promise<void> {
  const starting = startNode(config, say, { sharedPort: true });
  const stopping = { stop: async () => (await starting).stop(), say: () => {}, exit, now: () => performance.now() };
  handleStopSignals(stopping);
  whenAbandoned(stopHandler(stopping));
  const node = await starting;
  tellReady({ ...addressesOf(node), banner: banner(config, node) });
}

async function runAll(config: Config): Promise<void> {
  const changed = keepAddresses(config.dataDir);
  const starting = startSupervisor(config, { spawn: spawnNode, say, changed, now: () => performance.now() });
  handleStopSignals({
    stop: async () => (await starting).stop(),
    say,
    exit: (code) => {
      // Asked twice: nothing is waited for.
      void starting.then(({ kill }) => kill());
      setTimeout(exit, 0, code);
    },
    now: () => performance.now(),
  });
  const { nodes } = await starting;
  say(nodes[0]?.banner ?? "");
}

function explain(error: unknown): string {
  if (error instanceof StartFailure) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
