/** Whole executions in containers, by a whole node. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AgentOptions, manifest, say, shell } from "../../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../../harness/node/node-process.ts";
import { podman } from "../../../harness/outside/podman.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";

const engine = await podman();

describe.skipIf(engine === null)("agents in containers", () => {
  let stores: TestStores;
  let node: NodeProcess;
  beforeAll(async () => {
    stores = await freshStores();
    node = await startNodeProcess(stores, {
      env: {
        SVC_DOCKER_SOCKET: engine?.socket ?? "",
        SVC_RUNTIME_DEFAULT: "docker",
        SVC_IMAGE_REGISTRIES: "localhost",
      },
    });
  });
  afterAll(async () => {
    await node?.dispose();
    await stores?.dispose();
  });

  const agent = async (script: unknown, more: Omit<AgentOptions, "script"> = {}) => {
    const document = manifest({ script, ...more });
    const runtime = { image: engine?.bare ?? "", image_pull_policy: "Never", ...more.runtime };
    const given = { ...document, spec: { ...(document.spec as object), runtime } };
    const { body, status } = await node.call("POST", "/v1/agents", given);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return String(body.agent_id);
  };
  const start = async (id: string) => {
    const { body, status } = await node.call("POST", `/v1/agents/${id}/execute`, { input: "go" });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return String(body.execution_id);
  };
  const ended = (id: string) =>
    until(
      async () => {
        const { body } = await node.call("GET", `/v1/executions/${id}`);
        return !["pending", "running"].includes(body.status) && body;
      },
      { timeoutMs: 25_000, what: "the end of the execution" },
    );
  const get = async (path: string) =>
    fetch(node.url + path, { headers: { Authorization: `Bearer ${await node.token()}` } });
  const fileOf = (id: string, name: string) => get(`/v1/executions/${id}/files/${name}`);
  const eventsOf = async (id: string, name: string) => {
    const response = await get(`/v1/executions/${id}/events`);
    const bodies = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    return bodies.map((line) => JSON.parse(line.slice(6))).flatMap((body) => (name in body ? [body[name]] : []));
  };

  test("an agent's commands run in its image, and the record says so", async () => {
    const id = await start(
      await agent([shell("id -u; ls /bin/busybox; echo made > file; ls /sys/class/net"), say("done")]),
    );
    const record = await ended(id);
    expect(record).toMatchObject({
      status: "completed",
      output: "done",
      runtime: { isolation: "docker", image: engine?.bare, sandbox: "container", egress_enforced: true },
    });
    const [call] = record.iterations[0].trajectory;
    expect(call.result_json).toContain("1000\\n/bin/busybox\\nlo\\n");
    const file = await fileOf(id, "file");
    expect(await file.text()).toBe("made\n");
  });

  test("with one kept warm, the next run is a new instance and sees nothing of the first", async () => {
    const script = [shell("cat /workspace/left /tmp/left; echo x > /workspace/left; echo x > /tmp/left"), say("done")];
    const id = await agent(script, { spec: { advanced: { warm_pool_size: 1 } } });
    const instances: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      const record = await ended(await start(id));
      expect(record).toMatchObject({ status: "completed", output: "done" });
      expect(record.iterations[0].trajectory[0].result_json).not.toContain("x\\n");
      const [spawned] = await eventsOf(record.id, "instance_spawned");
      instances.push(spawned.instance_id);
    }
    expect(new Set(instances).size).toBe(3);
  });

  test("too much memory, and a missing image, end a run with their codes", async () => {
    const eats = [shell("x=$(head -c 400000000 /dev/zero | tr '\\0' x); echo $?"), say("done")];
    const hungry = await start(await agent(eats, { resources: { memory: "128Mi" } }));
    const absent = await start(await agent([say("never")], { runtime: { image: "localhost/svc-test/none:1" } }));
    expect(await ended(hungry)).toMatchObject({ status: "failed" });
    expect((await ended(hungry)).iterations[0].error.code).toBe("out_of_memory");
    expect(await ended(absent)).toMatchObject({ status: "failed", error_code: "image_pull_failed" });
    expect(await eventsOf(absent, "image_pull_failed")).toHaveLength(1);
  });

  test("a node that dies leaves the container at work; the next one goes on with it", async () => {
    const script = [
      shell("echo x >> runs; n=0; while [ $n -lt 40 ]; do sleep 0.1; n=$((n+1)); done; cat runs"),
      say("done"),
    ];
    const id = await start(await agent(script));
    await until(async () => (await fileOf(id, "runs")).ok, { what: "the command to run" });
    await node.kill();
    await node.restart();
    const record = await ended(id);
    expect(record).toMatchObject({ status: "completed", output: "done" });
    expect(record.iterations).toHaveLength(1);
    expect(record.iterations[0]).toMatchObject({ attempt: 1 });
    expect(record.iterations[0].trajectory[0].result_json).toContain('"stdout":"x\\n"');
  }, 60_000);
});
