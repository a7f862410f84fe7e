/** What containers cost beyond their engine: until the first word with the gateway, and around a whole run. */
import { chmodSync } from "node:fs";
import type { InstanceSpec } from "../../src/adapters/sandbox/port.ts";
import { type DockerFixture, dockerFixture } from "../adapters/sandbox/docker/fixture.ts";
import { runToEnd, specOf } from "../adapters/sandbox/instances.ts";
import { leave } from "../harness/at-exit.ts";
import { type Podman, podman } from "../harness/outside/podman.ts";
import { fakeGateway, final } from "../programs/fake-gateway.ts";
import { percentile, type Row } from "./table.ts";

const rounds = 20;
const programMs = 500;

/** No rows where containers cannot be had; that is said aloud. */
export async function benchContainers(): Promise<Row[]> {
  const engine = await podman();
  if (engine === null) return [];
  try {
    return [...(await firstWords(engine)), await wholeRun(engine)];
  } finally {
    await leave();
  }
}

async function firstWords(engine: Podman): Promise<Row[]> {
  const fixture = await dockerFixture(engine, { program: undefined });
  const unix = fixture.gatewaySocket("bench");
  let askedAt = 0;
  const gateway = fakeGateway(
    () => {
      askedAt = performance.now();
      return final("done");
    },
    { unix },
  );
  chmodSync(unix, 0o666);
  const measure = async (pool: InstanceSpec["pool"]) => {
    const samples: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const spec = gatewaySpec(fixture, pool);
      const began = performance.now();
      await runToEnd(fixture.sandbox, spec);
      // The first one of a pool is cold: it fills the pool.
      if (round > 0) samples.push(askedAt - began);
      await fixture.docker.warm.settled();
      await fixture.sandbox.remove(spec.instanceId);
    }
    return percentile(samples, 0.5);
  };
  const cold = await measure(null);
  const warm = await measure({ key: "bench", size: 1 });
  const bare = await bareRuns(fixture, engine, ["/bin/true"], 0);
  await gateway.stop();
  await fixture.dispose();
  const note = `p50 of ${rounds}, podman with runc`;
  return [
    {
      name: "container create → first gateway request, cold",
      unit: "ms",
      value: cold,
      floor: bare,
      floorIs: "the engine alone: create, start, end of /bin/true",
      goal: "",
      note,
    },
    {
      name: "container → first gateway request, warm",
      unit: "ms",
      value: warm,
      floor: cold,
      floorIs: "cold, in the same run",
      goal: "≤ 0.25x",
      note,
    },
  ];
}

function gatewaySpec(fixture: DockerFixture, pool: InstanceSpec["pool"]): InstanceSpec {
  const executionId = crypto.randomUUID();
  const environment = {
    SVC_AGENT_ID: "bench",
    SVC_EXECUTION_ID: executionId,
    SVC_MODEL_ALIAS: "default",
    SVC_ORCHESTRATOR_URL: "http://127.0.0.1:18081/x/token",
    SVC_EXECUTION_TOKEN: "token",
  };
  return specOf(fixture, "go", { executionId, environment, pool });
}

async function wholeRun(engine: Podman): Promise<Row> {
  const seconds = String(programMs / 1_000);
  const fixture = await dockerFixture(engine);
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const spec = specOf(fixture, `sleep ${seconds}`);
    const began = performance.now();
    await runToEnd(fixture.sandbox, spec);
    samples.push(performance.now() - began - programMs);
    await fixture.sandbox.remove(spec.instanceId);
  }
  const floor = await bareRuns(fixture, engine, ["/bin/sleep", seconds], programMs);
  await fixture.dispose();
  return {
    name: "around a container's run",
    unit: "ms",
    value: percentile(samples, 0.5),
    floor,
    floorIs: "the engine alone: create, start, end noticed",
    goal: "≤ floor + 50 ms",
    note: `total minus the program's own ${programMs} ms; p50 of ${rounds}`,
  };
}

/** @returns p50 of what the engine alone takes beyond the program's own time */
async function bareRuns(fixture: DockerFixture, engine: Podman, command: string[], ownMs: number): Promise<number> {
  const { engine: api } = fixture.docker;
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = `bare-${crypto.randomUUID()}`;
    const began = performance.now();
    await api.create(name, { Image: engine.bare, Cmd: command, HostConfig: { NetworkMode: "none" } });
    await api.start(name);
    while ((await api.state(name, { size: false }))?.phase !== "ended") await Bun.sleep(5);
    samples.push(performance.now() - began - ownMs);
    await api.remove(name);
  }
  return percentile(samples, 0.5);
}
