/** A node with ten thousand daemons is killed: how soon all are connected to the other one, and how that one answers. */
import { percentile, type Row } from "../table.ts";
import type { Floors } from "./floor.ts";
import { eachOf, linkUrl, type Scene, spentDuring } from "./scene.ts";

const probesPerSecond = 20;

export async function reconnectRows(scene: Scene, floors: Floors): Promise<Row[]> {
  const { fleet, count, node, hosts } = scene;
  const other = await scene.addNode();
  await Bun.sleep(5_000);
  const path = `/v1/edge/hosts/${hosts.hosts[0]?.id}`;
  const probe = startProbe(`${other.url}${path}`, other.token);
  await Bun.sleep(3_000);
  const calm = probe.taken();
  const before = await fleet.counts();
  let milliseconds = 0;
  const spent = await spentDuring({ ...scene, node: other }, async () => {
    // As a balancer does that finds a connection refused.
    fleet.order({ order: "urls", urls: [linkUrl(other)] });
    process.kill(node.pid, "SIGKILL");
    await fleet.until("the links of the killed node ended", ({ welcomed }) => welcomed < count / 2, 30_000);
    milliseconds = await fleet.until("all hosts back", ({ welcomed }) => welcomed === count, 300_000);
  });
  const meanwhile = probe.taken();
  probe.stop();
  const after = await fleet.counts();
  const closes = Object.entries(after.closes).map(
    ([code, number]) => `${code}: ${number - (before.closes[code] ?? 0)}`,
  );
  const welcomes = after.welcomes - before.welcomes;
  return [
    {
      ...{ name: `${count} hosts back after their node's death`, unit: "s", value: milliseconds / 1000, goal: "<= 30" },
      ...{ floor: floors.helloSeconds, floorIs: "bare server that verifies and answers, all at once, without stores" },
      note: `killed with SIGKILL, ${welcomes} welcomes, closes ${closes.join(", ")}; ${eachOf(spent, count)}`,
    },
    {
      ...{ name: "GET of a host meanwhile, p99", unit: "ms", value: percentile(meanwhile, 0.99), goal: "<= 200" },
      ...{ floor: percentile(calm, 0.99), floorIs: "the same before the death" },
      note: `${probesPerSecond} a second whatever the answers do; ${meanwhile.length} answers, slowest ${Math.max(...meanwhile).toFixed(0)} ms`,
    },
  ];
}

/** Asks at a rate, whatever the answers do. `taken`: milliseconds of answers since it was last called. */
function startProbe(url: string, token: string) {
  let samples: number[] = [];
  const timer = setInterval(async () => {
    const at = performance.now();
    try {
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      await answer.arrayBuffer();
      if (answer.ok) samples.push(performance.now() - at);
      else samples.push(Number.POSITIVE_INFINITY);
    } catch {
      samples.push(Number.POSITIVE_INFINITY);
    }
  }, 1000 / probesPerSecond);
  return {
    taken(): number[] {
      const taken = samples;
      samples = [];
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}
