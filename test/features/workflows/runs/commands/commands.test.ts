/** Commands of workflows as activities (docs/reference/workflows.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "../../../../../src/adapters/sandbox/instance.ts";
import { type InstanceSpec, LaunchFailure, type Sandbox } from "../../../../../src/adapters/sandbox/port.ts";
import { instanceOf, instancesOf } from "../../../../../src/features/workflows/runs/commands/attempts.ts";
import type { CommandOptions } from "../../../../../src/features/workflows/runs/commands/spec.ts";
import { bubblewrapWorks, processFixture } from "../../../../adapters/sandbox/fixture.ts";
import { processesWith } from "../../../../harness/processes.ts";
import { commandOptions, commandRun, directoryOf, run, script, volumeAt } from "./command-fixture.ts";

const works = await bubblewrapWorks();
const mebibyte = 2 ** 20;

describe.skipIf(!works)("a command", () => {
  let fixture: Awaited<ReturnType<typeof processFixture>>;
  let options: CommandOptions;
  beforeAll(async () => {
    fixture = await processFixture({ allowUnsandboxed: false });
    options = commandOptions(fixture.dataDir, [fixture.sandbox]);
  });
  afterAll(() => fixture.dispose());
  const withSandbox = (members: Partial<Sandbox>): CommandOptions =>
    commandOptions(fixture.dataDir, [
      new Proxy(fixture.sandbox, {
        get(target, name) {
          const member: unknown = Reflect.get(members, name) ?? Reflect.get(target, name, target);
          return typeof member === "function" ? member.bind(target) : member;
        },
      }),
    ]);

  test("sees nothing of svc, has no network and no privileges", async () => {
    process.env.SERVICE_SECRET_OF_TEST = "leak";
    const runId = crypto.randomUUID();
    const env = { SVC_WORKFLOW_EXECUTION_ID: runId, GREETING: "hi" };
    const end = await run(
      options,
      script("env; id -u; cat /proc/net/route | tail -n +2; cat /proc/1/environ 2>/dev/null; true", { env }),
    );
    delete process.env.SERVICE_SECRET_OF_TEST;
    expect(end).toMatchObject({ status: "success", exit_code: 0, timed_out: false, truncated: false, attempts: 1 });
    expect(end).toMatchObject({ error: null, warnings: [] });
    const lines = end.stdout.trim().split("\n");
    expect(lines.filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line)).sort()).toEqual([
      "1000",
      "GREETING=hi",
      "HOME=/workspace",
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      `SVC_WORKFLOW_EXECUTION_ID=${runId}`,
    ]);
    expect(end.duration_ms).toBeGreaterThan(0);
  });

  test("that takes too long is ended: -1, timed_out, its output so far", async () => {
    const tag = `35${Math.floor(Math.random() * 1e6)}`;
    const end = await run(options, script(`echo begun; sleep ${tag}`, { timeout_ms: 2_000 }));
    expect(end).toMatchObject({
      status: "failed",
      exit_code: -1,
      timed_out: true,
      stdout: "begun\n",
      error: "timed_out",
    });
    expect(processesWith(`sleep ${tag}`)).toEqual([]);
  });

  test("that ignores SIGTERM is killed 5 s later", async () => {
    const began = performance.now();
    const text = "trap '' TERM; while :; do sleep 0.05; done";
    const end = await run(options, script(text, { timeout_ms: 2_000 }));
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(7_000);
    expect(end).toMatchObject({ exit_code: -1, timed_out: true });
  }, 15_000);

  test("that ends in its own way when asked has timed out nevertheless", async () => {
    const text = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.02; done";
    const end = await run(options, script(text, { timeout_ms: 500 }));
    expect(end).toMatchObject({ status: "failed", exit_code: -1, timed_out: true, stdout: "bye\n" });
  });

  test.each([
    ["exit 3", 3],
    ["kill -KILL $$", 137],
    ["no-such-program", 127],
  ])("%p fails with %i and is not tried again", async (text, code) => {
    const end = await run(options, script(text, { retry: { max_attempts: 3, backoff_ms: 0 } }));
    expect(end).toMatchObject({ status: "failed", exit_code: code, attempts: 1, error: null, timed_out: false });
  });

  test("of its output the last mebibyte is kept, as text that stores take", async () => {
    const end = await run(options, script("echo first; head -c 2000000 /dev/zero; printf 'l\\377st' ; echo e >&2"));
    expect(end).toMatchObject({ truncated: true, stderr: "e\n" });
    expect(end.stdout.endsWith("\ufffdl\ufffdst")).toBe(true);
    expect(end.stdout).not.toContain("\0");
    expect(Buffer.byteLength(end.stdout)).toBeLessThanOrEqual(mebibyte);
  });

  test("without a volume has an empty workspace of its own each time", async () => {
    const text = "ls -A; echo x > made; pwd";
    for (const _ of [1, 2]) expect((await run(options, script(text))).stdout).toBe("/workspace\n");
  });

  test("works in the run's workspace, and in what is mounted beside", async () => {
    const [workspace, shared] = [volumeAt("/workspace"), volumeAt("/workspace/lib", { access_mode: "read-only" })];
    const mounts = [shared, workspace];
    expect(await run(options, script("echo one > a", { mounts: [workspace] }))).toMatchObject({ exit_code: 0 });
    expect(readFileSync(join(directoryOf(fixture.dataDir, workspace), "a"), "utf8")).toBe("one\n");
    const end = await run(options, script("cat a; echo x > lib/b || echo kept", { mounts }));
    expect(end.stdout).toBe("one\nkept\n");
  });

  test("fails where its directory is not there", async () => {
    const end = await run(options, script("true", { workdir: "/workspace/gone" }));
    expect(end).toMatchObject({ status: "failed", exit_code: 126 });
    expect(end.stderr).toContain("/workspace/gone");
  });

  test("that no program can be given fails before it is run", async () => {
    const work = commandRun(["echo", "x".repeat(131_072)], { retry: { max_attempts: 5, backoff_ms: 0 } });
    const end = await run(options, work);
    expect(end).toMatchObject({ status: "failed", exit_code: null, error: "template_value_invalid", attempts: 1 });
  });

  test("that fills its disk, a volume or its memory is ended", async () => {
    const fill = "i=0; while [ $i -lt 120 ]; do head -c 8000000 /dev/zero > f$i; i=$((i+1)); done";
    const mounts = [volumeAt("/workspace", { size_limit_bytes: mebibyte })];
    expect(await run(options, script(fill, { mounts }))).toMatchObject({ status: "failed", error: "disk_exceeded" });
    const memory = { cpu_millicores: 500, memory_bytes: 64 * mebibyte };
    const hungry = script("x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 30", { resources: memory });
    expect(await run(options, hungry)).toMatchObject({ status: "failed", error: "out_of_memory" });
    const own = script("for i in 1 2 3 4 5 6; do head -c 60000000 /dev/zero > $i; done; sleep 30");
    expect(await run(options, own)).toMatchObject({ status: "failed", error: "disk_exceeded" });
  }, 40_000);

  test("reaches the proxy when allowed, under its own id, or is told there is no network", async () => {
    const work = script('echo "$HTTPS_PROXY"', { network: "default" });
    const end = await run(options, work);
    expect(end).toMatchObject({ stdout: `http://svc:egress-of-${work.instance_id}@127.0.0.1:8082\n`, warnings: [] });
    const closed = await run(
      { ...options, openEgress: false },
      script('echo "[$HTTPS_PROXY]"', { network: "default" }),
    );
    expect(closed.stdout).toBe("[]\n");
    expect(closed.warnings).toHaveLength(1);
    expect(closed.warnings[0]).toStartWith("open_egress_forbidden: ");
  });

  test("of a node without containers ignores an image, and says so", async () => {
    const end = await run(options, script("echo x", { image: "alpine:3" }));
    expect(end).toMatchObject({ status: "success" });
    expect(end.warnings[0]).toStartWith("image_ignored: ");
  });

  test("in a container is refused where there are none", async () => {
    const end = await run(options, script("echo x", { kind: "container", image: "alpine:3" }));
    expect(end).toMatchObject({ status: "failed", exit_code: null, error: "runtime_unavailable", attempts: 0 });
  });

  describe("faults outside of it", () => {
    const launching = (fail: (nth: number, spec: InstanceSpec) => Error | null) => {
      const launched: string[] = [];
      const sandbox = withSandbox({
        launch: async (spec, report) => {
          launched.push(spec.instanceId);
          const failure = fail(launched.length, spec);
          if (failure !== null) throw failure;
          await fixture.sandbox.launch(spec, report);
        },
      });
      return { sandbox, launched };
    };
    const pull = () => new LaunchFailure("image_pull_failed", "The image cannot be had");

    test("are tried again as often as it says, each time in a fresh sandbox", async () => {
      const { sandbox, launched } = launching((nth) => (nth < 3 ? pull() : null));
      const work = script("ls -A; echo third", { retry: { max_attempts: 3, backoff_ms: 10 } });
      expect(await run(sandbox, work)).toMatchObject({
        status: "success",
        stdout: "third\n",
        attempts: 3,
        error: null,
      });
      expect(launched).toEqual([1, 2, 3].map((nth) => instanceOf(work.instance_id, nth)));
      expect(new Set(launched).size).toBe(3);
      expect(instancesOf(work.instance_id).slice(0, 3)).toEqual(launched);
    });

    test("end it when there are no attempts left, saying why", async () => {
      const { sandbox, launched } = launching(pull);
      const end = await run(sandbox, script("true", { retry: { max_attempts: 2, backoff_ms: 0 } }));
      expect(end).toMatchObject({ status: "failed", exit_code: null, error: "image_pull_failed", attempts: 2 });
      expect(end.stderr).toBe("The image cannot be had");
      expect(launched).toHaveLength(2);
    });

    test("are waited out attempt by attempt: 1 s, 2 s", async () => {
      const { sandbox } = launching((nth) => (nth < 3 ? pull() : null));
      const began = performance.now();
      expect(await run(sandbox, script("true", { retry: { max_attempts: 3, backoff_ms: null } }))).toMatchObject({
        attempts: 3,
      });
      expect(performance.now() - began).toBeGreaterThanOrEqual(2_990);
    }, 15_000);

    test("an engine that does not answer is asked again; at last that is a fault", async () => {
      const { sandbox } = launching(() => new EngineError("silent", null));
      const work = script("true");
      for (const attempt of [1, 2]) expect(run(sandbox, work, { attempt })).rejects.toMatchObject({ detail: "silent" });
      expect(await run(sandbox, work, { attempt: 3 })).toMatchObject({ status: "failed", error: "runtime_error" });
    });
  });
});

test("without a sandbox nothing is started, in development neither", async () => {
  const fixture = await processFixture({ bubblewrap: false, allowUnsandboxed: true });
  const options = commandOptions(fixture.dataDir, [fixture.sandbox]);
  const volume = volumeAt("/workspace");
  const end = await run(options, script("touch ran", { mounts: [volume], retry: { max_attempts: 3, backoff_ms: 0 } }));
  expect(end).toMatchObject({ status: "failed", exit_code: null, error: "sandbox_unavailable", attempts: 0 });
  expect(await fixture.sandbox.list()).toEqual([]);
  expect(existsSync(directoryOf(fixture.dataDir, volume))).toBe(false);
  expect(await run({ ...options, defaultIsolation: null }, script("true"))).toMatchObject({
    error: "sandbox_unavailable",
  });
  await fixture.dispose();
});
