/** What every sandbox adapter must do; run over each of them. The prompt of an instance here is a shell script. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OutputChunk, Sandbox } from "../../../src/adapters/sandbox/instance.ts";
import { processesWith } from "../../harness/processes.ts";
import { until } from "../../harness/until.ts";
import { mebibyte, roomy, runToEnd, type SandboxFixture, sampleTenant, specOf, untilOutput } from "./instances.ts";

export function sandboxConformance(name: string, make: () => Promise<SandboxFixture>): void {
  describe(`sandbox port: ${name}`, () => {
    let fixture: SandboxFixture;
    let sandbox: Sandbox;
    beforeAll(async () => {
      fixture = await make();
      sandbox = fixture.sandbox;
    });
    afterAll(() => fixture.dispose());

    test("reports output, exit code and both streams", async () => {
      const spec = specOf(fixture, "echo out; echo err >&2; echo named > /dev/stderr; exit 7");
      const { exit, chunks } = await runToEnd(sandbox, spec);
      expect(exit).toEqual({
        reason: "exited",
        exitCode: 7,
        stdout: "out\n",
        stdoutTruncated: false,
        stderr: "err\nnamed\n",
        stderrTruncated: false,
      });
      expect(
        chunks
          .filter((c) => c.stream === "stdout")
          .map((c) => c.content)
          .join(""),
      ).toBe("out\n");
      expect(await sandbox.inspect(spec.instanceId)).toBe("exited");
      await sandbox.remove(spec.instanceId);
      await sandbox.remove(spec.instanceId);
      expect(await sandbox.inspect(spec.instanceId)).toBe("gone");
    });

    test("a signalled program reports 128 + n", async () => {
      const { exit } = await runToEnd(sandbox, specOf(fixture, "kill -KILL $$"));
      expect(exit).toMatchObject({ reason: "exited", exitCode: 137 });
    });

    test("passes exactly the given environment and nothing of the service's", async () => {
      process.env.SERVICE_SECRET_OF_TEST = "leak";
      const { exit } = await runToEnd(sandbox, specOf(fixture, "env -0 | tr '\\n\\0' '~\\n'"));
      delete process.env.SERVICE_SECRET_OF_TEST;
      const names = exit.stdout
        .trim()
        .split("\n")
        .map((line) => line.split("=")[0] ?? "")
        .sort();
      const own = ["GATEWAY_RELAY", "GATEWAY_SOCKETS", "INSTANCE_ID", "WORKSPACE"].flatMap((n) => [
        `SVC_${n}`,
        `AEGIS_${n}`,
      ]);
      const allowed = new Set([
        ...own,
        "SVC_EXECUTION_ID",
        "GREETING",
        "PATH",
        "HOME",
        "LANG",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
      ]);
      expect(names.filter((n) => !allowed.has(n))).toEqual([]);
      expect(names).toContain("PATH");
      expect(exit.stdout).toContain('GREETING=it\'s $HOME~"quoted"\n');
    });

    test("a prompt too long for an argument, or with NUL, arrives by file and stdin", async () => {
      const filler = "#".repeat(200_000);
      const { exit } = await runToEnd(sandbox, specOf(fixture, `echo a; exit 3\n${filler}`));
      // The shell got no argument, so nothing of the prompt ran.
      expect(exit).toMatchObject({ exitCode: 0, stdout: "" });
    });

    test("follow takes up where an earlier follower stopped, on another node", async () => {
      const spec = specOf(fixture, "echo héllo; while [ ! -e go ]; do sleep 0.05; done; echo wörld");
      await sandbox.launch(spec, () => {});
      const first: OutputChunk[] = [];
      const stop = new AbortController();
      const aborted = sandbox
        .follow(spec.instanceId, {
          signal: stop.signal,
          from: { stdout: 0, stderr: 0 },
          onOutput: (c) => first.push(c),
        })
        .catch((error: unknown) => error);
      await until(() => first.length > 0, { what: "first output" });
      stop.abort(new Error("node leaves"));
      expect(await aborted).toEqual(new Error("node leaves"));

      const other = await fixture.another();
      expect(await other.inspect(spec.instanceId)).toBe("running");
      expect(await other.list()).toContainEqual({ instanceId: spec.instanceId, executionId: spec.executionId });
      await Bun.write(join(fixture.workspace(spec.executionId), "go"), "");
      const second: OutputChunk[] = [];
      const seen = first.reduce((sum, c) => sum + c.bytes, 0);
      const exit = await other.follow(spec.instanceId, {
        signal: AbortSignal.timeout(20_000),
        from: { stdout: seen, stderr: 0 },
        onOutput: (c) => second.push(c),
      });
      expect(second[0]?.offset).toBe(seen);
      expect([...first, ...second].map((c) => c.content).join("")).toBe("héllo\nwörld\n");
      expect(exit.stdout).toBe("héllo\nwörld\n");
    });

    test("the same instance never runs twice", async () => {
      const spec = specOf(fixture, "echo x >> runs; sleep 0.3");
      const other = await fixture.another();
      await Promise.all([sandbox.launch(spec, () => {}), other.launch(spec, () => {}), sandbox.launch(spec, () => {})]);
      await other.launch(spec, () => {});
      await runToEnd(sandbox, spec);
      await sandbox.launch(spec, () => {});
      expect(readFileSync(join(fixture.workspace(spec.executionId), "runs"), "utf8")).toBe("x\n");
    });

    test("the workspace outlives instances and is writable on both sides", async () => {
      const spec = specOf(fixture, "echo from-agent > made; mkdir d; cat given");
      const workspace = fixture.workspace(spec.executionId);
      await Bun.write(join(workspace, "given"), "from-host");
      expect((await runToEnd(sandbox, spec)).exit.stdout).toBe("from-host");
      await sandbox.remove(spec.instanceId);
      const next = specOf(fixture, "cat made", { executionId: spec.executionId });
      expect((await runToEnd(sandbox, next)).exit.stdout).toBe("from-agent\n");
    });

    test("a paused instance stands still, on every node, and goes on with its memory", async () => {
      const spec = specOf(
        fixture,
        "n=0; while [ ! -e stop ]; do n=$((n+1)); echo $n > count; sleep 0.05; done; echo $n",
      );
      const count = () => Number(readFileSync(join(fixture.workspace(spec.executionId), "count"), "utf8") || 0);
      const begun = () => existsSync(join(fixture.workspace(spec.executionId), "count"));
      await sandbox.launch(spec, () => {});
      await until(begun, { what: "it to begin" });
      const answer = await sandbox.pause(spec.instanceId);
      expect(answer).toBe(fixture.holds.pause ? "paused" : "unsupported");
      if (answer === "paused") {
        expect(await sandbox.pause(spec.instanceId)).toBe("paused");
        const other = await fixture.another();
        expect(await other.inspect(spec.instanceId)).toBe("running");
        const stoodAt = count();
        await Bun.sleep(300);
        expect(count()).toBe(stoodAt);
        await other.resume(spec.instanceId);
        await until(() => count() > stoodAt, { what: "it to go on" });
      }
      await sandbox.resume(spec.instanceId);
      writeFileSync(join(fixture.workspace(spec.executionId), "stop"), "");
      const { exit } = await runToEnd(sandbox, spec);
      expect(exit).toMatchObject({ reason: "exited", exitCode: 0 });
      expect(Number(exit.stdout)).toBe(count());
      expect(await sandbox.pause(spec.instanceId)).toBe("gone");
      await sandbox.resume(spec.instanceId);
    });

    test("a command runs beside the program, in its place and within its bounds", async () => {
      // Behind our own program, so that the runtime is inside; the script waits until it is told to end.
      const script = "echo of-the-program > seen; while [ ! -e stop ]; do sleep 0.05; done";
      const spec = specOf(fixture, script, { startupScript: "true" });
      const workspace = fixture.workspace(spec.executionId);
      await sandbox.launch(spec, () => {});
      await until(() => existsSync(join(workspace, "seen")), { what: "it to begin" });
      const other = await fixture.another();
      const environment = { ...spec.environment, SVC_EXECUTION_TOKEN: "secret", AEGIS_EXECUTION_TOKEN: "secret" };
      const run = (request: Record<string, unknown>, signal = new AbortController().signal) =>
        other.exec(spec.instanceId, { request, tenant: sampleTenant, environment, egress: null }, signal);
      const answer = await run({
        command: "sh",
        args: ["-c", 'cat seen; pwd; id -u; echo "$MODE" >&2; exit 7'],
        env_additions: { MODE: "x" },
      });
      const [, where, user] = answer?.stdout.split("\n") ?? [];
      expect(answer).toMatchObject({ exit_code: 7, stderr: "x\n", truncated: false, timed_out: false });
      expect(answer?.stdout).toStartWith("of-the-program\n");
      if (fixture.holds.mounts) expect({ where, user }).toEqual({ where: "/workspace", user: "1000" });
      const shown = await run({ command: "env" });
      expect(shown?.stdout).toContain("SVC_EXECUTION_ID=x");
      expect(shown?.stdout).not.toMatch(/EXECUTION_TOKEN|secret/);
      expect(await run({ command: "no-such-program" })).toMatchObject({ exit_code: 127 });
      expect(await run({ command: "true", cwd: "/workspace/none" })).toMatchObject({ exit_code: -1 });
      const late = await run({ command: "sh", args: ["-c", "echo begun; sleep 60 & wait"], timeout_secs: 1 });
      expect(late).toMatchObject({ exit_code: -1, timed_out: true, stdout: "begun\n" });
      if (fixture.holds.network) {
        // The same processes, network and rights: what the program cannot do the command cannot.
        const rights = await run({
          command: "sh",
          args: ["-c", "grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status; cat /proc/net/dev | wc -l"],
        });
        expect(rights?.stdout).toMatch(/CapEff:\s+0+\n/);
        if (!sandbox.describe().unenforcedLimits.includes("system_calls"))
          expect(rights?.stdout).toMatch(/Seccomp:\s+2/);
        expect(rights?.stdout).toMatch(/NoNewPrivs:\s+1\n/);
        const own = await run({
          command: "sh",
          args: ["-c", "ls -l /proc/self/ns | sed 's/.*-> //' | grep -E 'net|pid:'; echo t > /tmp/of-a-command"],
        });
        const again = await run({
          command: "sh",
          args: ["-c", "ls -l /proc/self/ns | sed 's/.*-> //' | grep -E 'net|pid:'; cat /tmp/of-a-command >&2"],
        });
        expect(again).toMatchObject({ stdout: own?.stdout ?? "", stderr: "t\n" });
      }
      const left = new AbortController();
      const asked = run({ command: "sleep", args: ["60"] }, left.signal);
      setTimeout(() => left.abort(new Error("left")), 200);
      expect(asked).rejects.toThrow("left");
      await asked.catch(() => {});
      if ((await sandbox.pause(spec.instanceId)) === "paused") expect(await run({ command: "true" })).toBe(null);
      await sandbox.resume(spec.instanceId);
      // An engine may lose a command that it is asked for as soon as it resumed.
      await until(async () => (await run({ command: "touch", args: ["stop"] }))?.exit_code === 0);
      expect((await runToEnd(sandbox, spec)).exit).toMatchObject({ reason: "exited", exitCode: 0 });
      expect(await run({ command: "true" })).toBe(null);
      expect(
        await other.exec(crypto.randomUUID(), { request: {}, tenant: "t", environment: {}, egress: null }, left.signal),
      ).toBe(null);
    });

    test("a paused instance is ended like another, by terminate and by remove", async () => {
      for (const end of ["terminate", "remove"] as const) {
        const spec = specOf(fixture, "trap 'exit 3' TERM; touch begun; while :; do sleep 0.05; done");
        await sandbox.launch(spec, () => {});
        const begun = join(fixture.workspace(spec.executionId), "begun");
        await until(() => existsSync(begun), { what: "it to begin" });
        await sandbox.pause(spec.instanceId);
        if (end === "terminate") {
          const ended = runToEnd(sandbox, spec);
          await sandbox.terminate(spec.instanceId, 10_000);
          expect((await ended).exit).toMatchObject({ reason: "terminated", exitCode: 3 });
        }
        await sandbox.remove(spec.instanceId);
        expect(await sandbox.inspect(spec.instanceId)).toBe("gone");
        expect(await sandbox.pause(spec.instanceId)).toBe("gone");
        await until(() => processesWith(spec.instanceId).length === 0, { what: "nothing of it to be left" });
      }
    });

    test("terminate asks first, and the program may end in its own way", async () => {
      const spec = specOf(fixture, "trap 'echo bye; exit 143' TERM; echo up; while :; do sleep 0.05; done");
      await sandbox.launch(spec, () => {});
      await untilOutput(sandbox, spec.instanceId);
      await sandbox.terminate(spec.instanceId, 5_000);
      await sandbox.terminate(spec.instanceId, 5_000);
      expect((await runToEnd(sandbox, spec)).exit).toMatchObject({
        reason: "terminated",
        exitCode: 143,
        stdout: "up\nbye\n",
      });
    });

    test("asked by many at once, a program is asked and ends at once", async () => {
      const spec = specOf(fixture, "trap 'exit 143' TERM; echo up; while :; do sleep 0.01; done");
      await sandbox.launch(spec, () => {});
      await untilOutput(sandbox, spec.instanceId);
      const ask = async (_: unknown, nth: number) => {
        // Spread over the moments before and after the program ends.
        await Bun.sleep(nth / 2);
        await sandbox.terminate(spec.instanceId, 5_000);
      };
      await Promise.all(Array.from({ length: 30 }, ask));
      expect((await runToEnd(sandbox, spec)).exit).toMatchObject({ reason: "terminated", exitCode: 143 });
    });

    test("a program that ignores SIGTERM is killed after the grace, with its daemons", async () => {
      const tag = `31${Math.floor(Math.random() * 1e6)}`;
      const spec = specOf(
        fixture,
        `trap '' TERM; (setsid sleep ${tag} >/dev/null 2>&1 &); echo up; while :; do sleep 0.05; done`,
      );
      await sandbox.launch(spec, () => {});
      await untilOutput(sandbox, spec.instanceId);
      await until(() => processesWith(`sleep ${tag}`).length > 0, { what: "the daemonised child" });
      await (await fixture.another()).terminate(spec.instanceId, 500);
      expect((await runToEnd(sandbox, spec)).exit.reason).toBe("terminated");
      await until(() => processesWith(`sleep ${tag}`).length === 0, { what: "no process left" });
    });

    test("background children do not keep an instance from ending, and do not survive it", async () => {
      const tag = `32${Math.floor(Math.random() * 1e6)}`;
      const { exit } = await runToEnd(sandbox, specOf(fixture, `setsid sleep ${tag} & echo done`));
      expect(exit).toMatchObject({ reason: "exited", exitCode: 0, stdout: "done\n" });
      await until(() => processesWith(`sleep ${tag}`).length === 0, { what: "no process left" });
    });

    test("too much memory ends the instance", async () => {
      const spec = specOf(fixture, "x=$(head -c 400000000 /dev/zero | tr '\\0' x); sleep 30", {
        limits: { ...roomy, memoryBytes: 64 * mebibyte },
      });
      expect((await runToEnd(sandbox, spec)).exit.reason).toBe("out_of_memory");
    }, 30_000);

    test("too much disk ends the instance", async () => {
      const fill = "for i in 1 2 3 4 5 6 7 8; do head -c 8000000 /dev/zero > f$i; done; sleep 30";
      const spec = specOf(fixture, fill, { limits: { ...roomy, diskBytes: 16 * mebibyte } });
      expect((await runToEnd(sandbox, spec)).exit.reason).toBe("disk_exceeded");
    }, 30_000);

    test("an instance that fills the disk in one go is ended before it is through", async () => {
      const fill = "i=0; while [ $i -lt 120 ]; do head -c 8000000 /dev/zero > f$i; i=$((i+1)); done; echo through";
      const spec = specOf(fixture, fill, { limits: { ...roomy, diskBytes: 16 * mebibyte } });
      const { exit } = await runToEnd(sandbox, spec);
      rmSync(fixture.workspace(spec.executionId), { recursive: true });
      expect(exit).toMatchObject({ reason: "disk_exceeded", stdout: "" });
    }, 30_000);

    test("a flood of output fills neither disk nor memory; head and tail are kept", async () => {
      const spec = specOf(
        fixture,
        "echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo last; head -c 300000 /dev/zero | tr '\\0' e >&2",
      );
      const { exit, chunks } = await runToEnd(sandbox, spec);
      expect(exit.exitCode).toBe(0);
      expect(exit.stdoutTruncated).toBe(true);
      expect(Buffer.byteLength(exit.stdout)).toBeLessThanOrEqual(mebibyte);
      expect(Buffer.byteLength(exit.stdout)).toBeGreaterThan(mebibyte / 2);
      expect(exit.stdout.startsWith("first\n")).toBe(true);
      expect(exit.stdout.endsWith("last\n")).toBe(true);
      expect(exit.stderr).toBe("e".repeat(65_536));
      const last = chunks.filter((c) => c.stream === "stdout").at(-1);
      expect((last?.offset ?? 0) + (last?.bytes ?? 0)).toBe(6 + 200_000_000 + 5);
    }, 60_000);

    unknownInstances(() => fixture);
  });
}

/** What holds for every adapter, whether its instances are programs or not. */
export function unknownInstances(fixture: () => Pick<SandboxFixture, "sandbox" | "workspace">): void {
  test("what is unknown is gone, and ids that are no UUIDs are refused", async () => {
    const { sandbox } = fixture();
    const id = crypto.randomUUID();
    expect(await sandbox.inspect(id)).toBe("gone");
    await sandbox.terminate(id, 0);
    await sandbox.remove(id);
    const follow = { signal: AbortSignal.timeout(1_000), from: { stdout: 0, stderr: 0 }, onOutput() {} };
    expect(await sandbox.follow(id, follow)).toMatchObject({ reason: "lost", exitCode: null });
    for (const bad of ["../../etc", "", ".", "a/b", `${id}/..`, id.toUpperCase()]) {
      expect(sandbox.launch(specOf(fixture(), "true", { instanceId: bad }), () => {})).rejects.toThrow(TypeError);
      expect(sandbox.inspect(bad)).rejects.toThrow(TypeError);
    }
  });
}
