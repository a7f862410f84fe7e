import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InstanceSpec } from "../../../../src/adapters/sandbox/port.ts";
import { podman } from "../../../harness/outside/podman.ts";
import { until } from "../../../harness/until.ts";
import { runToEnd, specOf } from "../instances.ts";
import { type DockerFixture, dockerFixture } from "./fixture.ts";

const engine = await podman();

describe.skipIf(engine === null)("containers kept ready", () => {
  let fixture: DockerFixture;
  beforeEach(async () => {
    if (engine !== null) fixture = await dockerFixture(engine);
  });
  afterEach(() => fixture?.dispose());

  const specWith = (prompt: string, key = "k", size = 1, changes: Partial<InstanceSpec> = {}) =>
    specOf(fixture, prompt, {
      environment: { SVC_AGENT_ID: "agent-1", SVC_EXECUTION_TOKEN: "tok" },
      image: { reference: engine?.bare ?? "", pullPolicy: "IfNotPresent" },
      pool: { key, size },
      ...changes,
    });
  const containers = async () =>
    (await fixture.docker.engine.list([`svc.data=${fixture.docker.paths.identity}`])).map(({ name }) => name);
  /** The container that an instance runs in. */
  const containerOf = async ({ instanceId }: InstanceSpec) => {
    const record = await Bun.file(join(fixture.docker.paths.instance(instanceId), "launch.json")).json();
    return String(record.container);
  };
  const run = async (spec: InstanceSpec) => (await runToEnd(fixture.docker, spec)).exit;

  test("the second run gets a waiting one, finds nothing of the first; it is replaced", async () => {
    const first = specWith("echo mine > left; echo mine > /tmp/left; echo $SVC_EXECUTION_TOKEN; cat /workspace/left");
    expect((await run(first)).stdout).toBe("tok\nmine\n");
    expect(await containerOf(first)).toBe(`svc-${first.instanceId}`);
    await fixture.docker.warm.settled();
    expect(fixture.docker.warm.waiting).toBe(1);

    const second = specWith("ls -A /workspace /tmp | grep left; echo $GREETING; pwd; echo y > made; id -u", "k", 1, {
      environment: { SVC_AGENT_ID: "agent-1", GREETING: "second" },
    });
    const { stdout } = await run(second);
    expect(stdout).toBe("second\n/workspace\n1000\n");
    expect(await containerOf(second)).toStartWith("svc-warm-");
    expect(await Bun.file(join(fixture.workspace(second.executionId), "made")).text()).toBe("y\n");
    await fixture.docker.warm.settled();
    expect(fixture.docker.warm.waiting).toBe(1);

    await fixture.docker.remove(second.instanceId);
    expect(await containers()).not.toContain(await containerOf(second).catch(() => "gone"));
    const third = specWith("echo third");
    expect((await run(third)).stdout).toBe("third\n");
    expect(await containerOf(third)).not.toBe(await containerOf(first));
  });

  test("a run with files, volumes or another key starts cold", async () => {
    await run(specWith("true"));
    await fixture.docker.warm.settled();
    const files = specWith("cat given");
    writeFileSync(join(fixture.workspace(files.executionId), "given"), "kept");
    expect((await run(files)).stdout).toBe("kept");
    const base = specWith("true");
    const volumes = {
      ...base,
      mounts: [...base.mounts, { source: fixture.volume(), target: "/workspace/v", readOnly: false }],
    };
    await run(volumes);
    const roomier = specWith("true", "k", 1, { limits: { ...base.limits, memoryBytes: 2 ** 28 + 2 ** 20 } });
    for (const spec of [files, volumes]) expect(await containerOf(spec)).toBe(`svc-${spec.instanceId}`);
    await run(roomier);
    expect(await containerOf(roomier)).toBe(`svc-${roomier.instanceId}`);
  });

  test("an agent's new revision replaces the old one's; draining leaves none", async () => {
    await run(specWith("true", "revision-1", 2));
    await fixture.docker.warm.settled();
    expect(fixture.docker.warm.waiting).toBe(2);
    await run(specWith("true", "revision-2", 1));
    await fixture.docker.warm.settled();
    await until(() => fixture.docker.warm.waiting === 1, { what: "the old revision's to go" });
    await run(specWith("true", "other", 1, { environment: { SVC_AGENT_ID: "agent-2" } }));
    await fixture.docker.warm.settled();
    expect(fixture.docker.warm.waiting).toBe(2);
    await fixture.docker.drain("agent-1");
    expect(fixture.docker.warm.waiting).toBe(1);
    await fixture.docker.drain();
    expect(fixture.docker.warm.waiting).toBe(0);
    await until(async () => (await containers()).every((name) => !name.startsWith("svc-warm-")), { what: "none left" });
    expect(readdirSync(fixture.docker.paths.warm)).toEqual([]);
  });

  test("the cap of the node holds over all agents, and what idles goes", async () => {
    await fixture.dispose();
    if (engine !== null) fixture = await dockerFixture(engine, { warmPoolCap: 1, warmIdleMs: 300 });
    await run(specWith("true", "k", 3));
    await fixture.docker.warm.settled();
    expect(fixture.docker.warm.waiting).toBe(1);
    await until(() => fixture.docker.warm.waiting === 0, { what: "the idle one to go" });
    await until(() => readdirSync(fixture.docker.paths.warm).length === 0, { what: "its directory to go" });
  });

  test("one that died is not given away", async () => {
    await run(specWith("true"));
    await fixture.docker.warm.settled();
    const waiting = (await containers()).find((name) => name.startsWith("svc-warm-")) ?? "";
    await fixture.docker.engine.kill(waiting, "SIGKILL");
    const next = specWith("echo fine");
    expect((await run(next)).stdout).toBe("fine\n");
  });

  test("what a dead process kept ready is swept, a living one's is not", async () => {
    await run(specWith("true"));
    await fixture.docker.warm.settled();
    const other = await fixture.anotherDocker();
    await other.warm.sweep();
    expect(fixture.docker.warm.waiting).toBe(1);
    const [id = ""] = readdirSync(fixture.docker.paths.warm);
    expect(existsSync(join(fixture.docker.paths.warm, id, "owner"))).toBe(true);
    writeFileSync(join(fixture.docker.paths.warm, id, "owner"), JSON.stringify({ pid: 1, born: "another boot:1" }));
    await other.list();
    expect(readdirSync(fixture.docker.paths.warm)).toEqual([]);
    expect((await containers()).filter((name) => name.startsWith("svc-warm-"))).toEqual([]);
  });

  test("an assignment cut off after the directory moved is finished by the next launch", async () => {
    await run(specWith("true"));
    await fixture.docker.warm.settled();
    const spec = specWith("echo finished; ls");
    const original = fixture.docker.warm.take.bind(fixture.docker.warm);
    await original(spec, fixture.docker.paths.instance(spec.instanceId));
    expect(await fixture.docker.inspect(spec.instanceId)).toBe("gone");
    const other = await fixture.anotherDocker();
    expect((await runToEnd(other, spec)).exit.stdout).toBe("finished\n");
    expect(await containerOf(spec)).toStartWith("svc-warm-");
  });
});
