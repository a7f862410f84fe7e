/** Two hundred agents at once on one node, each a real sandboxed process with a command under way: what they take. */
import { readdirSync, readFileSync } from "node:fs";
import { until } from "../harness/until.ts";
import { deployBenchAgent, residentMiB, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import type { Row } from "./table.ts";

const executions = 200;
const script = [{ tool_calls: [{ name: "cmd.run", arguments: { command: "sleep", args: ["600"] } }] }];
const instruction = `Wait.\n\n\`\`\`svc-script\n${JSON.stringify(script)}\n\`\`\`\n`;
/** How supervisors, bubblewrap and bootstraps are told from other processes. */
const ours = /\/run\/svc\/|\/programs\/(supervisor|bootstrap)-/;

export async function benchConcurrent(stores: BenchStores): Promise<Row[]> {
  const service = await startBenchService(stores, "concurrent", ["--real-sandbox"], {
    SVC_MAX_INSTANCES: String(executions),
    SVC_RUNTIME_DEFAULT: "process",
  });
  try {
    const security = { resources: { timeout: "1h", memory: "256Mi", disk: "64Mi" } };
    const agentId = await deployBenchAgent(service, "bench-concurrent", instruction, security);
    const before = await residentMiB(service.pid);
    const began = performance.now();
    const ids = await Promise.all(
      Array.from({ length: executions }, async () => {
        const answer = await service.post("/v1/executions", { agent_id: agentId, input: "go" });
        return ((await answer.json()) as { execution_id: string }).execution_id;
      }),
    );
    const working = () => shares((command) => command.startsWith("sleep 600"));
    await until(() => working().length >= executions, { what: "every command under way", timeoutMs: 240_000 });
    const seconds = (performance.now() - began) / 1000;
    const outside = shares((command) => ours.test(command)).reduce((sum, share) => sum + share, 0);
    const inside = (await residentMiB(service.pid)) - before;
    await Promise.all(ids.map((id) => service.post(`/v1/executions/${id}/cancel`, {})));
    await until(() => working().length === 0, { what: "every instance gone", timeoutMs: 60_000 });
    const note = `${executions} at once under bubblewrap, each with a command under way`;
    return [
      {
        name: "200 process executions, memory each",
        unit: "MiB",
        value: outside / executions,
        floor: await bareShare(),
        floorIs: "one of 20 bare Bun processes that wait",
        goal: "",
        note: `proportional set size of supervisor, bubblewrap and bootstrap; ${note}`,
      },
      {
        name: "200 process executions, all at work after",
        unit: "s",
        value: seconds,
        floor: await bareStarts(),
        floorIs: "200 bare Bun processes, started one after the other as fast as they come up",
        goal: "",
        note: `from the first start; the node itself grew by ${((inside / executions) * 1024).toFixed(0)} KiB each; ${note}`,
      },
    ];
  } finally {
    await service.stop();
  }
}

/** Proportional set sizes in MiB of the processes whose command line matches. */
function shares(matches: (command: string) => boolean): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!matches(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "))) return [];
        return [Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) / 1024];
      } catch {
        return [];
      }
    });
}

const waiting = ["-e", "console.log('up'); setTimeout(() => {}, 600_000)"];

async function spawnBare(): Promise<Bun.Subprocess> {
  const child = Bun.spawn([process.execPath, ...waiting], { stdout: "pipe", stderr: "ignore", stdin: "ignore" });
  await child.stdout.getReader().read();
  return child;
}

async function bareShare(): Promise<number> {
  const children = await Promise.all(Array.from({ length: 20 }, spawnBare));
  const found = shares((command) => command.includes("setTimeout(() => {}, 600_000)"));
  for (const child of children) child.kill("SIGKILL");
  return found.reduce((sum, share) => sum + share, 0) / Math.max(1, found.length);
}

/** @returns seconds */
async function bareStarts(): Promise<number> {
  const began = performance.now();
  const children: Bun.Subprocess[] = [];
  for (let round = 0; round < executions / 10; round++) {
    children.push(...(await Promise.all(Array.from({ length: 10 }, spawnBare))));
  }
  const seconds = (performance.now() - began) / 1000;
  for (const child of children) child.kill("SIGKILL");
  return seconds;
}
