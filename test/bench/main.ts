/**
 * `bun run bench [name …] [--json]`: every speed the project claims, each beside a floor measured in the same run.
 * Numbers of a shared machine wander; the ratios say more.
 */

import { benchBilling } from "./billing.ts";
import { benchConcurrent } from "./concurrent.ts";
import { benchConsole, benchConsoleMemory } from "./console/console.ts";
import { benchContainers } from "./containers.ts";
import { benchDispatch } from "./dispatch.ts";
import { benchEdge } from "./edge/edge.ts";
import { benchEgress } from "./egress.ts";
import { benchErasing } from "./erasing.ts";
import { benchIdentity } from "./identity.ts";
import { benchLists } from "./lists.ts";
import { benchMaps } from "./maps.ts";
import { benchMemory } from "./memory.ts";
import { benchNodes } from "./nodes.ts";
import { benchRates } from "./rates.ts";
import { benchSchedules } from "./schedules.ts";
import { benchSeal } from "./seal.ts";
import { benchStarts } from "./starts.ts";
import { benchStimuli } from "./stimuli.ts";
import { benchStimuliMemory } from "./stimuli-memory.ts";
import { startBenchStores } from "./stores.ts";
import { benchStreams } from "./streams.ts";
import { printTable, type Row } from "./table.ts";
import { benchTools } from "./tools.ts";
import { benchTurns } from "./turns.ts";
import { benchUsage } from "./usage.ts";
import { benchVolumes } from "./volumes.ts";
import { benchWaits } from "./waits.ts";
import { benchWorkflows } from "./workflows.ts";

const benches = {
  turns: benchTurns,
  starts: benchStarts,
  billing: benchBilling,
  rates: benchRates,
  identity: benchIdentity,
  dispatch: benchDispatch,
  seal: benchSeal,
  tools: benchTools,
  egress: benchEgress,
  containers: benchContainers,
  concurrent: benchConcurrent,
  streams: benchStreams,
  memory: benchMemory,
  workflows: benchWorkflows,
  schedules: benchSchedules,
  map: benchMaps,
  stimuli: benchStimuli,
  "stimuli-memory": benchStimuliMemory,
  lists: benchLists,
  nodes: benchNodes,
  erasing: benchErasing,
  edge: benchEdge,
  usage: benchUsage,
  volumes: benchVolumes,
  waits: benchWaits,
  console: benchConsole,
  "console-memory": benchConsoleMemory,
};
/** Takes long: runs only when asked for. */
const lengthy = new Set([
  "stimuli-memory",
  "lists",
  "nodes",
  "erasing",
  "edge",
  "usage",
  "volumes",
  "waits",
  "schedules",
  "console-memory",
]);

const asked = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const stores = await startBenchStores();
const rows: Row[] = [];
try {
  for (const [name, bench] of Object.entries(benches)) {
    if (asked.includes(name) || (asked.length === 0 && !lengthy.has(name))) rows.push(...(await bench(stores)));
  }
} finally {
  await stores.stop();
}
if (process.argv.includes("--json")) console.log(JSON.stringify(rows, null, 2));
else printTable(rows);
process.exit(0);
