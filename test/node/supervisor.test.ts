/** Several nodes on one machine (docs/guide/operate.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/node/config.ts";
import type { NodeChild, Ready } from "../../src/node/supervised.ts";
import { restartPauseMs, startSupervisor } from "../../src/node/supervisor.ts";
import { manifest, say, shell } from "../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

interface Place {
  readonly pid: number;
  readonly node: string;
  readonly internal_port: number;
  readonly metrics_port: number;
}

const isGone = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.startsWith("Z") ?? true;
  } catch {
    return true;
  }
};

const isLive = ({ internal_port }: Place): Promise<boolean> =>
  fetch(`http://127.0.0.1:${internal_port}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

describe("as processes", () => {
  let stores: TestStores;
  let nodes: NodeProcess;
  const places = (): readonly Place[] =>
    JSON.parse(readFileSync(join(nodes.dataDir, `node-${nodes.pid}.json`), "utf8")).nodes;
  beforeAll(async () => {
    stores = await freshStores();
    const env = { SVC_NODES: "2", SVC_METRICS_ENABLED: "true", SVC_METRICS_PORT: "0", SVC_LOG_LEVEL: "warn" };
    nodes = await startNodeProcess(stores, { env });
  }, 60_000);
  afterAll(async () => {
    await nodes.dispose();
    await stores.dispose();
  });

  test("one banner, one port, and each node is reached for its health and metrics", async () => {
    await until(() => nodes.output.includes("svc is ready"), { what: "the banner" });
    expect(nodes.output.split("svc is ready")).toHaveLength(2);
    expect(new Set(places().map(({ node }) => node)).size).toBe(2);
    for (const place of places()) expect(await isLive(place)).toBe(true);
    // Each connection is a new one: the system chooses the node.
    for (let n = 0; n < 40; n++) await fetch(`${nodes.url}/health/live`, { keepalive: false });
    const answered = await Promise.all(
      places().map(async ({ metrics_port }) => {
        const text = await (await fetch(`http://127.0.0.1:${metrics_port}/metrics`)).text();
        return Number(/svc_http_requests_total\{[^}]*"\/health\/live"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
      }),
    );
    expect(answered.reduce((sum, one) => sum + one, 0)).toBe(40);
    expect(Math.min(...answered)).toBeGreaterThan(0);
  });

  test("the page of metrics names every series of a node, with its type", async () => {
    const [place] = places();
    const text = await (await fetch(`http://127.0.0.1:${place?.metrics_port}/metrics`)).text();
    const served = [...text.matchAll(/^# TYPE (svc_\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    const page = readFileSync(join(import.meta.dir, "../../docs/reference/metrics.md"), "utf8");
    const named = [...page.matchAll(/^\| `(svc_(?!edge_daemon)\w+)` +\| (\w+) +\|/gm)];
    expect(named.map(([, name, type]) => `${name} ${type}`).sort()).toEqual(served.sort());
  });

  test("a node that is killed comes back, and its agents end as they would have", async () => {
    const { body } = await nodes.call("POST", "/v1/agents", manifest({ script: [shell("sleep 2"), say("done")] }));
    const starts = Array.from({ length: 6 }, () =>
      nodes.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" }),
    );
    const ids = (await Promise.all(starts)).map((answer) => answer.body.execution_id);
    const [victim, other] = places();
    if (victim === undefined || other === undefined) throw new Error("two nodes were started");
    process.kill(victim.pid, "SIGKILL");
    await until(() => places().length === 2 && places().every(({ pid }) => pid !== victim.pid), {
      timeoutMs: 30_000,
      what: "a new node in its place",
    });
    expect(places().some(({ pid }) => pid === other.pid)).toBe(true);
    for (const id of ids) {
      const ended = await until(
        async () => {
          const { status, body } = await nodes
            .call("GET", `/v1/executions/${id}`)
            .catch(() => ({ status: 0, body: {} }));
          return status === 200 && body.ended_at !== null ? body : null;
        },
        { timeoutMs: 40_000, what: "the end" },
      );
      expect(ended).toMatchObject({ status: "completed", total_iterations: 1 });
    }
  }, 90_000);

  test("a port that another program has is told, and SIGTERM ends all of them", async () => {
    const again = { ...nodes.env, SVC_PORT: String(nodes.port) };
    const second = Bun.spawnSync([process.execPath, join(import.meta.dir, "../../src/main.ts")], { env: again });
    expect(second.stderr.toString()).toContain("is taken");
    const pids = places().map(({ pid }) => pid);
    expect(await nodes.stop()).toBe(0);
    expect(pids.map(isGone)).toEqual([true, true]);
    await nodes.start();
    const left = places().map(({ pid }) => pid);
    // Without a supervisor they would serve on with no one to stop them.
    await nodes.kill();
    await until(() => left.every(isGone), { timeoutMs: 30_000, what: "the end of the nodes" });
  }, 90_000);
});

describe("decisions", () => {
  const config = {
    ...loadConfig({ SVC_MODE: "development", SVC_NODES: "3", SVC_PORT: "0", SVC_INTERNAL_PORT: "0" }),
    metricsPort: 19_100,
  };
  const ready = (index: number): Ready => ({
    node: `n${index}`,
    port: 18_099,
    internalPort: 1,
    egressPort: 2,
    metricsPort: null,
    banner: "",
  });

  /** Programs that do as `behave` says. */
  function stage(behave: (nth: number, child: FakeChild, told: (ready: Ready) => void) => void) {
    const spawned: { readonly settings: Readonly<Record<string, string | undefined>>; readonly child: FakeChild }[] =
      [];
    const said: string[] = [];
    const starting = startSupervisor(config, {
      spawn: (_, settings, told) => {
        const child = new FakeChild(spawned.length + 1);
        spawned.push({ settings, child });
        queueMicrotask(() => behave(child.pid, child, told));
        return child;
      },
      say: (line) => said.push(line),
      changed: () => {},
      now: () => performance.now(),
      asking: { everyMs: 5, answerMs: 1_000 },
    });
    return { starting, spawned, said };
  }
  class FakeChild implements NodeChild {
    readonly #end = Promise.withResolvers<number | null>();
    readonly signals: string[] = [];
    constructor(readonly pid: number) {}
    get ended() {
      return this.#end.promise;
    }
    kill(signal: NodeJS.Signals) {
      this.signals.push(signal);
      this.#end.resolve(null);
    }
    exit(code: number) {
      this.#end.resolve(code);
    }
  }

  test("the pause before a start doubles from half a second to 30 s", () => {
    expect([1, 2, 3, 7, 8, 50].map(restartPauseMs)).toEqual([500, 1_000, 2_000, 30_000, 30_000, 30_000]);
  });

  test("nodes share the public port and have ports of their own for everything else", async () => {
    const { starting, spawned } = stage((nth, _, told) => told(ready(nth)));
    const supervisor = await starting;
    expect(spawned.map(({ settings }) => [settings.SVC_PORT, settings.SVC_METRICS_PORT, settings.SVC_NODES])).toEqual([
      ["0", "19100", "1"],
      ["18099", "19101", "1"],
      ["18099", "19102", "1"],
    ]);
    await supervisor.stop();
  });

  test("a node that does not come up at the first start ends all of them", async () => {
    const { starting, spawned } = stage((nth, child, told) => (nth === 3 ? child.exit(1) : told(ready(nth))));
    await expect(starting).rejects.toThrow("a node ended before it was ready");
    expect(spawned.slice(0, 2).map(({ child }) => child.signals)).toEqual([["SIGTERM"], ["SIGTERM"]]);
  });

  test("a node that does not say that it is alive is killed and started again", async () => {
    const { starting, spawned, said } = stage((nth, _, told) => told(ready(nth)));
    const supervisor = await starting;
    await until(() => spawned.length > 3, { what: "another start" });
    expect(spawned[0]?.child.signals).toEqual(["SIGKILL"]);
    expect(said.join()).toContain("is not alive any more");
    await supervisor.stop();
  });
});
