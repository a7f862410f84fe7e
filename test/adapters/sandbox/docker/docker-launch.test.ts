/** Launches that fail, are cut off, or outlive the engine's service; and the real bootstrap in real containers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, closeSync, constants, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { qualified } from "../../../../actors/manifest/images/image.ts";
import { isAwaiting } from "../../../../src/adapters/sandbox/docker/assignment-delivery.ts";
import { createDockerSandbox } from "../../../../src/adapters/sandbox/docker/docker-sandbox.ts";
import { Images } from "../../../../src/adapters/sandbox/docker/images/images.ts";
import { EngineError } from "../../../../src/adapters/sandbox/instance.ts";
import type { InstanceSpec, LaunchNews, OutputChunk } from "../../../../src/adapters/sandbox/port.ts";
import { podman } from "../../../harness/outside/podman.ts";
import { scratch } from "../../../harness/scratch.ts";
import { until } from "../../../harness/until.ts";
import { dispatch, fakeGateway, final, type Script } from "../../../programs/fake-gateway.ts";
import { runToEnd, specOf, untilOutput } from "../instances.ts";
import { type DockerFixture, dockerFixture } from "./fixture.ts";

const engine = await podman();

test("names without a registry are Docker's", () => {
  expect(
    [
      "python:3.11-slim",
      "acme/app",
      "ghcr.io/a/b:1",
      "localhost/a",
      "127.0.0.1:5000/a",
      "a@sha256:00",
      "docker.io/a",
      "index.docker.io/a/b",
      "Registry/a",
    ].map(qualified),
  ).toEqual([
    "docker.io/library/python:3.11-slim",
    "docker.io/acme/app:latest",
    "ghcr.io/a/b:1",
    "localhost/a:latest",
    "127.0.0.1:5000/a:latest",
    "docker.io/library/a@sha256:00",
    "docker.io/library/a:latest",
    "docker.io/a/b:latest",
    "registry/a:latest",
  ]);
});

test("without an engine there is no docker sandbox", async () => {
  const options = { dataDir: scratch("no-engine"), warmPoolCap: 0, mayReach: async () => true, warn() {} };
  expect(await createDockerSandbox({ ...options, socket: "/nowhere.sock" })).toBeNull();
  const socket = join(options.dataDir, "silent.sock");
  const server = Bun.serve({ unix: socket, fetch: () => new Response("no", { status: 500 }) });
  expect(await createDockerSandbox({ ...options, socket })).toBeNull();
  await server.stop(true);
});

describe.skipIf(engine === null)("launches", () => {
  let fixture: DockerFixture;
  beforeAll(async () => {
    if (engine !== null) fixture = await dockerFixture(engine);
  });
  afterAll(() => fixture?.dispose());
  const image = (reference: string, pullPolicy: "Always" | "IfNotPresent" | "Never") => ({ reference, pullPolicy });

  test("a missing image fails with its code, at once where pulling is forbidden", async () => {
    if (engine === null) return;
    const registry = await engine.registry();
    const failed = ["image_pull_failed"];
    for (const [wanted, stages] of [
      [image("localhost/svc-test/none:1", "Never"), failed],
      [image(`${registry.address}/svc/bare:1`, "Never"), failed],
      [image(`${registry.address}/svc/none:1`, "IfNotPresent"), ["image_pull_started", ...failed]],
      [image(`${registry.address}/svc/none:1`, "Always"), ["image_pull_started", ...failed]],
    ] as const) {
      const news: LaunchNews[] = [];
      const spec = specOf(fixture, "true", { image: wanted });
      const failure = await fixture.docker.launch(spec, (one) => news.push(one)).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "LaunchFailure", code: "image_pull_failed" });
      expect(news.map(({ stage }) => stage)).toEqual([...stages] as LaunchNews["stage"][]);
      await fixture.docker.remove(spec.instanceId);
    }
    // What the registry said is for the log alone.
    const told = await fixture.docker
      .launch(specOf(fixture, "true", { image: image(`${registry.address}/svc/none:1`, "Always") }), () => {})
      .catch((error: unknown) => String(error));
    expect(told).toBe(
      `LaunchFailure: The image ${registry.address}/svc/none:1 cannot be had: the registry or the container engine refused it`,
    );
    expect(fixture.warnings.join("\n")).toMatch(/name unknown/);
    const asked = registry.asked.length;
    const unreachable = new Images(fixture.docker.engine, fixture.docker.privates, async () => false);
    const refused = await unreachable
      .get(image(`${registry.address}/svc/bare:1`, "Always"), () => {})
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "image_pull_failed" });
    expect(registry.asked).toHaveLength(asked);
    registry.silent = true;
    const impatient = new Images(fixture.docker.engine, fixture.docker.privates, async () => true, 200);
    const silent = image(`${registry.address}/svc/bare:1`, "IfNotPresent");
    const failure = await impatient.get(silent, () => {}).catch((error: unknown) => error);
    expect(String(failure)).toContain("not pulled within");
    await registry.stop();
  }, 60_000);

  test("concurrent launches pull an image once, and again only where that is asked", async () => {
    if (engine === null) return;
    const registry = await engine.registry();
    const pulls = () => registry.asked.filter((path) => path.endsWith("/manifests/1")).length;
    const news: LaunchNews[] = [];
    const reference = `${registry.address}/svc/bare:1`;
    const specs = [1, 2, 3].map((n) => specOf(fixture, `echo ${n}`, { image: image(reference, "IfNotPresent") }));
    const exits = await Promise.all(
      specs.map(async (spec) => {
        await fixture.docker.launch(spec, (one) => news.push(one));
        return (await runToEnd(fixture.docker, spec)).exit.stdout;
      }),
    );
    expect(exits).toEqual(["1\n", "2\n", "3\n"]);
    expect(pulls()).toBe(1);
    expect(news.filter(({ stage }) => stage === "image_pull_completed")).toHaveLength(3);
    expect(news.find(({ stage }) => stage === "image_pull_completed")).toMatchObject({ image: reference });
    await runToEnd(fixture.docker, specOf(fixture, "true", { image: image(reference, "IfNotPresent") }));
    expect(pulls()).toBe(1);
    await runToEnd(fixture.docker, specOf(fixture, "true", { image: image(reference, "Always") }));
    expect(pulls()).toBe(2);
    await registry.stop();
  });

  test("an image on this host is not pulled and needs no shell and no C library", async () => {
    const news: LaunchNews[] = [];
    const spec = specOf(fixture, "true", { image: image(engine?.bare ?? "", "Never") });
    await fixture.docker.launch(spec, (one) => news.push(one));
    expect(news).toEqual([]);
  });

  test("an instance outlives the engine's service and is followed to its end", async () => {
    const spec = specOf(fixture, "echo up; while [ ! -e go ]; do sleep 0.05; done; echo down; exit 3");
    const chunks: OutputChunk[] = [];
    await fixture.sandbox.launch(spec, () => {});
    const end = fixture.sandbox.follow(spec.instanceId, {
      signal: AbortSignal.timeout(30_000),
      from: { stdout: 0, stderr: 0 },
      onOutput: (chunk) => chunks.push(chunk),
    });
    await until(() => chunks.length > 0, { what: "output" });
    await engine?.stop();
    const next = specOf(fixture, "echo later");
    const failure = await fixture.sandbox.launch(next, () => {}).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EngineError);
    expect(await fixture.docker.list()).toContainEqual({ instanceId: spec.instanceId, executionId: spec.executionId });
    await Bun.write(join(fixture.workspace(spec.executionId), "go"), "");
    await engine?.start();
    expect(await end).toMatchObject({ reason: "exited", exitCode: 3, stdout: "up\ndown\n" });
    expect(chunks.map(({ content }) => content).join("")).toBe("up\ndown\n");
    expect((await runToEnd(fixture.sandbox, next)).exit.stdout).toBe("later\n");
  }, 60_000);

  test("ended before its program began, it never begins", async () => {
    const spec = specOf(fixture, "echo ran > ran");
    const launched = fixture.sandbox.launch(spec, () => {});
    await until(() => Bun.file(join(fixture.docker.paths.instance(spec.instanceId), "launch.json")).exists());
    await fixture.sandbox.terminate(spec.instanceId, 5_000);
    await launched.catch(() => {});
    expect(await fixture.sandbox.inspect(spec.instanceId)).toBe("exited");
    expect((await runToEnd(fixture.sandbox, spec)).exit).toMatchObject({ reason: "terminated" });
    expect(await Bun.file(join(fixture.workspace(spec.executionId), "ran")).exists()).toBe(false);
  });

  test("cut off after its assignment was written, a launch starts no second program", async () => {
    const spec = specOf(fixture, "echo x >> runs; echo up; while [ ! -e go ]; do sleep 0.05; done");
    await fixture.sandbox.launch(spec, () => {});
    await untilOutput(fixture.sandbox, spec.instanceId);
    const directory = fixture.docker.paths.instance(spec.instanceId);
    expect(isAwaiting(directory)).toBe(false);
    rmSync(join(directory, "assigned"));
    expect(await fixture.sandbox.inspect(spec.instanceId)).toBe("gone");
    await fixture.sandbox.launch(spec, () => {});
    expect(await fixture.sandbox.inspect(spec.instanceId)).toBe("running");
    await Bun.write(join(fixture.workspace(spec.executionId), "go"), "");
    expect((await runToEnd(fixture.sandbox, spec)).exit).toMatchObject({ reason: "exited", stdout: "up\n" });
    expect(await Bun.file(join(fixture.workspace(spec.executionId), "runs")).text()).toBe("x\n");
  });

  test("cut off in the middle of the line, it is written anew", async () => {
    const spec = specOf(fixture, "echo whole");
    const directory = fixture.docker.paths.instance(spec.instanceId);
    const waiting = specOf(fixture, "echo whole", {
      pool: { key: "half", size: 1 },
      image: image(engine?.bare ?? "", "Never"),
    });
    await runToEnd(fixture.docker, waiting);
    await fixture.docker.warm.settled();
    expect(
      await fixture.docker.warm.take({ ...waiting, ...spec, image: waiting.image, pool: waiting.pool }, directory),
    ).toBe(true);
    const fifo = openSync(join(directory, "control", "assign"), constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fifo, '\n{"argv":["/bin/false"],"envi');
    closeSync(fifo);
    expect((await runToEnd(fixture.sandbox, spec)).exit).toMatchObject({ exitCode: 0, stdout: "whole\n" });
  });

  test("two services on one engine do not touch each other's containers", async () => {
    if (engine === null) return;
    const other = await dockerFixture(engine);
    const spec = specOf(fixture, "echo up; sleep 60");
    await fixture.sandbox.launch(spec, () => {});
    await untilOutput(fixture.sandbox, spec.instanceId);
    expect(await other.docker.list()).toEqual([]);
    await other.dispose();
    expect(await fixture.sandbox.inspect(spec.instanceId)).toBe("running");
    await fixture.sandbox.terminate(spec.instanceId, 0);
  });

  test("a container whose directory was lost is still listed and can be removed", async () => {
    const spec = specOf(fixture, "sleep 60");
    await fixture.sandbox.launch(spec, () => {});
    Bun.spawnSync(["rm", "-rf", fixture.docker.paths.instance(spec.instanceId)]);
    const listed = { instanceId: spec.instanceId, executionId: spec.executionId };
    expect(await fixture.docker.list()).toContainEqual(listed);
    await fixture.docker.remove(spec.instanceId);
    expect(await fixture.docker.list()).not.toContainEqual(listed);
  });
});

describe.skipIf(engine === null)("the bootstrap in a container", () => {
  let fixture: DockerFixture;
  beforeAll(async () => {
    if (engine !== null) fixture = await dockerFixture(engine, { program: undefined });
  });
  afterAll(() => fixture?.dispose());

  const gatewayAt = (script: Script) => {
    const unix = fixture.gatewaySocket(crypto.randomUUID().slice(0, 8));
    const gateway = fakeGateway(script, { unix });
    chmodSync(unix, 0o666);
    return gateway;
  };
  const specFor = (prompt: string, changes: Partial<InstanceSpec> = {}) => {
    const executionId = crypto.randomUUID();
    const environment = {
      SVC_EXECUTION_ID: executionId,
      SVC_AGENT_ID: "",
      SVC_MODEL_ALIAS: "default",
      SVC_ORCHESTRATOR_URL: "http://127.0.0.1:18081/x/tok-5ecret",
      SVC_EXECUTION_TOKEN: "tok-5ecret",
    };
    return specOf(fixture, prompt, { executionId, environment, ...changes });
  };

  test("runs the image's commands, shows them no token, and prints the final answer", async () => {
    const script = `pwd; id -u; env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
      wget -q -O - --post-data '{"type":"hello"}' $SVC_ORCHESTRATOR_URL/v1/dispatch-gateway`;
    const gateway = gatewayAt(({ body }, n) => {
      if (body.type === "hello") return { greeting: "hello from outside" };
      return n === 0 ? dispatch({ command: "sh", args: ["-c", script] }) : final("fin");
    });
    const { exit } = await runToEnd(fixture.sandbox, specFor("go"));
    expect(exit).toMatchObject({ reason: "exited", exitCode: 0, stdout: "fin\n", stderr: "" });
    const result = gateway.seen.at(-1);
    expect(result?.body.stdout).toStartWith("/workspace\n1000\n");
    expect(result?.body.stdout).toContain("hello from outside");
    expect(result?.text).not.toContain("tok-5ecret");
    await gateway.stop();
  });

  test("a long prompt arrives whole, and a startup script runs first", async () => {
    const gateway = gatewayAt(() => final("ok"));
    const prompt = "é".repeat(150_000);
    const spec = specFor(prompt, { startupScript: "echo started > made; env | grep -c tok-5ecret >> made || true" });
    expect((await runToEnd(fixture.sandbox, spec)).exit).toMatchObject({ exitCode: 0, stdout: "ok\n" });
    expect(gateway.seen[0]?.body.prompt).toBe(prompt);
    expect(await Bun.file(join(fixture.workspace(spec.executionId), "made")).text()).toBe("started\n0\n");
    await gateway.stop();
  });

  test("it is found where images' programs look for it, and a program can take its place", async () => {
    const gateway = gatewayAt(() => final("by hand"));
    const spec = specFor("go", { bootstrapPath: "/workspace/mine.sh" });
    await Bun.write(join(fixture.workspace(spec.executionId), "mine.sh"), 'echo mine; exec svc-bootstrap "$1"');
    expect((await runToEnd(fixture.sandbox, spec)).exit).toMatchObject({ exitCode: 0, stdout: "mine\nby hand\n" });
    await gateway.stop();
  });

  test("terminate lets the bootstrap end its command: 143", async () => {
    const gateway = gatewayAt(() => dispatch({ command: "sleep", args: ["3457"] }));
    const spec = specFor("go");
    const end = runToEnd(fixture.sandbox, spec);
    await until(() => gateway.seen.length === 1, { what: "the question" });
    await fixture.sandbox.terminate(spec.instanceId, 5_000);
    expect((await end).exit).toMatchObject({ reason: "terminated", exitCode: 143 });
    await gateway.stop();
  });
});
