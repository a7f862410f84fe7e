/** One command to all hosts of a fleet, until every result is on record. */
import { until } from "../../harness/until.ts";
import type { BenchService } from "../service.ts";
import { durability } from "../stores.ts";
import type { Row } from "../table.ts";
import type { Floors } from "./floor.ts";
import { eachOf, type Scene, spentDuring, work } from "./scene.ts";

const rounds = 3;

export async function commandRows(scene: Scene, floors: Floors): Promise<Row[]> {
  const { node, count, fleet } = scene;
  await allowAll(node);
  // The first one warms the node up.
  await runToAll(scene);
  const before = await fleet.counts();
  const seconds: number[] = [];
  const spent = await spentDuring(scene, async () => {
    for (let round = 0; round < rounds; round++) seconds.push(await runToAll(scene));
  });
  const after = await fleet.counts();
  const started = after.started - before.started;
  if (started !== rounds * count || after.unsound > 0)
    throw new Error(`${started} of ${rounds * count} commands started, ${after.unsound} frames unsound`);
  const followed = await spentDuring(scene, () => followToAll(scene));
  const all = rounds * count;
  const note = `parallel, 1,000 in flight, each takes ${work.join(" to ")} ms, ${durability}`;
  return [
    {
      ...{ name: `a command to ${count} hosts, all results`, unit: "s", value: Math.min(...seconds), goal: "<= 10" },
      ...{ floor: floors.commandSeconds, floorIs: "bare server, signed and verified, without stores" },
      note: `the best of ${rounds}, asked with 202 and polled; ${note}; at most ${after.lagMs.toFixed(0)} ms late daemons`,
    },
    {
      ...{ name: "CPU of the node for each command", unit: "µs", value: (spent.node * 1000) / all, goal: "–" },
      ...{ floor: floors.commandCpu, floorIs: "bare server, signed and verified, without stores" },
      note: eachOf(spent, all),
    },
    {
      ...{ name: `the same, followed by its stream`, unit: "s", value: followed.seconds, goal: "<= 10" },
      ...{ floor: floors.commandSeconds, floorIs: "bare server, signed and verified, without stores" },
      note: `from the request to the last event, ${count} results in it; ${eachOf(followed, count)}`,
    },
  ];
}

/** Nothing of what is asked for waits for a person. */
export async function allowAll(node: BenchService): Promise<void> {
  const answer = await fetch(`${node.url}/v1/edge/settings`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${node.token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ approve_all: false }),
  });
  if (!answer.ok) throw new Error(`settings: ${answer.status} ${await answer.text()}`);
}

const invocation = {
  target: { All: null },
  tool: "cmd.run",
  args: { command: "uptime" },
  policy: { mode: "Parallel", failure_policy: "ContinueOnError" },
};

interface Run {
  readonly status: string;
  readonly outcome: string;
  readonly summary: Readonly<Record<string, number>>;
}

/** @returns seconds until the run is complete, each of its commands `ok` */
export async function runToAll({ node, count }: Pick<Scene, "node" | "count">): Promise<number> {
  const began = performance.now();
  const asked = await node.post("/v1/edge/fleet/invoke", invocation, { Accept: "application/json" });
  if (asked.status !== 202) throw new Error(`invoke: ${asked.status} ${await asked.text()}`);
  const { fleet_command_id: id } = (await asked.json()) as { fleet_command_id: string };
  const run = await until(
    async () => {
      const answer = await fetch(`${node.url}/v1/edge/fleet/runs/${id}?limit=1`, {
        headers: { Authorization: `Bearer ${node.token}` },
      });
      const body = (await answer.json()) as Run;
      return body.outcome === "running" ? null : body;
    },
    { what: "the run's end", timeoutMs: 300_000, everyMs: 100 },
  );
  const seconds = (performance.now() - began) / 1000;
  checkRun(run, count);
  return seconds;
}

function checkRun(run: Run, count: number): void {
  if (run.summary.ok !== count) throw new Error(`${count} hosts: ${JSON.stringify(run)}`);
}

async function followToAll({ node, count }: Scene): Promise<void> {
  const answer = await node.post("/v1/edge/fleet/invoke", invocation, { Accept: "application/x-ndjson" });
  if (answer.status !== 200 || answer.body === null) throw new Error(`invoke: ${answer.status}`);
  const decoder = new TextDecoder();
  let rest = "";
  let results = 0;
  let last: Run | null = null;
  for await (const chunk of answer.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith('{"id"') && line.includes('"event":"command_result"')) results++;
      if (line.includes('"event":"fleet_result"')) last = (JSON.parse(line) as { data: Run }).data;
    }
  }
  if (last === null || results !== count) throw new Error(`${results} of ${count} results in the stream`);
  checkRun(last, count);
}
