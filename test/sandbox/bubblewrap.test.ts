import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Sandbox } from "../../src/sandbox/port.ts";
import { until } from "../harness/until.ts";
import { bubblewrapWorks, processBench } from "./bench.ts";
import { processesWith, runToEnd, sandboxConformance, specOf, untilOutput } from "./conformance.ts";

const works = await bubblewrapWorks();
if (works) {
  sandboxConformance("process with bubblewrap", () => processBench());
  sandboxConformance("process with bubblewrap, without control groups", () => processBench({ cgroups: false }));
}

describe.skipIf(!works)("bubblewrap holds", () => {
  let bench: Awaited<ReturnType<typeof processBench>>;
  let sandbox: Sandbox;
  const run = async (script: string) => (await runToEnd(sandbox, specOf(script))).exit;
  beforeAll(async () => {
    bench = await processBench();
    sandbox = bench.sandbox;
  });
  afterAll(() => bench.dispose());

  test("describes itself", () => {
    expect(sandbox.describe()).toMatchObject({ isolation: "process", sandbox: "bubblewrap", egressEnforced: true });
    expect(bench.warnings).toEqual([]);
  });

  test("an unprivileged user without capabilities, who cannot gain any", async () => {
    const { stdout } = await run(
      "id -un; id -u; id -g; id -G; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status | tr -d '\\t'",
    );
    expect(stdout.split("\n").slice(0, 9)).toEqual([
      ...["agent", "1000", "1000", "1000"],
      ...["Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}:${"0".repeat(16)}`),
      "NoNewPrivs:1",
    ]);
  });

  test("the host's files are hidden or read-only", async () => {
    await Bun.write(join(bench.dataDir, "secret"), "s3cret");
    const hidden = [
      "/root",
      "/home",
      "/etc/shadow",
      "/etc/hostname",
      "/var",
      "/work",
      "/sys",
      bench.dataDir,
      import.meta.dir,
    ];
    const { stdout } = await run(
      hidden.map((path) => `cat ${path} 2>/dev/null || ls ${path} >/dev/null 2>&1 && echo SEEN ${path}`).join("\n"),
    );
    expect(stdout).toBe("");
    const readOnly = [
      "/usr/x",
      "/x",
      "/etc/x",
      "/dev/x",
      "/run/x",
      "/run/svc/x",
      "/run/svc/gateway/x",
      "/proc/sys/kernel/hostname",
    ];
    const writes = await run(readOnly.map((path) => `(echo x > ${path}) 2>/dev/null && echo WROTE ${path}`).join("\n"));
    expect(writes.stdout).toBe("");
    expect((await run("echo x > /tmp/a && echo x > /workspace/b && echo x > /dev/shm/c && cat /tmp/a")).stdout).toBe(
      "x\n",
    );
  });

  test("another execution's workspace and the instance's own files are out of reach", async () => {
    const other = crypto.randomUUID();
    const path = await sandbox.workspace(other);
    await Bun.write(join(path, "theirs"), "private");
    const tries = [
      `cat ${path}/theirs`,
      `cat /workspace/../${other}/theirs`,
      `ln -s ${path}/theirs l; cat l`,
      "find / -name theirs",
      "find / -name launch.json",
    ];
    const { stdout } = await run(`${tries.map((line) => `(${line}) 2>/dev/null`).join("\n")}; true`);
    expect(stdout).toBe("");
  });

  test("no network: neither the host's loopback, nor abstract sockets, nor an outside address", async () => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data() {}, open: (s) => void s.write("REACHED") },
    });
    const script = `
      exec 2>/dev/null
      cat /proc/net/dev | grep -c : ; cat /proc/net/route | wc -l
      for address in 127.0.0.1/${server.port} 10.0.0.1/80; do timeout 2 bash -c "cat < /dev/tcp/$address" && echo REACHED; done; true`;
    const { stdout } = await run(script);
    server.stop(true);
    expect(stdout).not.toContain("REACHED");
    expect(stdout.split("\n").slice(0, 2)).toEqual(["1", "1"]);
  });

  test("sees no process but its own, and cannot signal the host's", async () => {
    const { stdout } = await run(
      `ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} 2>/dev/null && echo SIGNALLED; true`,
    );
    expect(Number(stdout.split("\n")[0])).toBeLessThan(8);
    expect(stdout).not.toContain("SIGNALLED");
  });

  test("what an agent puts into its environment does not run outside", async () => {
    const executionId = crypto.randomUUID();
    const workspace = await sandbox.workspace(executionId);
    const ran = join(workspace, "ran-outside");
    await Bun.write(join(workspace, "hook.sh"), `id -u >> ${ran}\n`);
    const environment = {
      BASH_ENV: join(workspace, "hook.sh"),
      ENV: join(workspace, "hook.sh"),
      LD_PRELOAD: join(workspace, "evil.so"),
      IFS: "/",
    };
    const { exit } = await runToEnd(sandbox, specOf("id -u", { executionId, environment }));
    expect(exit.stdout).toContain("1000");
    expect(await Bun.file(ran).exists()).toBe(false);
  });

  test("neither the token nor the prompt shows in the host's process list", async () => {
    const executionId = crypto.randomUUID();
    const spec = specOf("while [ ! -e go ]; do sleep 0.05; done", {
      executionId,
      environment: { SVC_EXECUTION_TOKEN: "tok-5ecret" },
    });
    const end = runToEnd(sandbox, spec);
    await until(() => processesWith(spec.instanceId).length > 0, { what: "the supervisor" });
    expect(processesWith("tok-5ecret")).toEqual([]);
    await Bun.write(join(await sandbox.workspace(executionId), "go"), "");
    expect((await end).exit.exitCode).toBe(0);
  });

  test("a fork bomb stays within its limit and is ended whole", async () => {
    const limits = { cpuMillicores: 200, memoryBytes: 128 * 2 ** 20, diskBytes: 2 ** 24, processes: 40 };
    if (sandbox.describe().unenforcedLimits.includes("processes")) return;
    const bomb = "n=0; while [ $n -lt 300 ]; do sleep 20 & n=$((n+1)); done 2>/dev/null; echo survived";
    const spec = specOf(`(${bomb}); ls /proc | grep -c '^[0-9]'; true`, { limits });
    await sandbox.launch(spec);
    await until(() => processesWith("sleep 20").length > 5, { what: "the bomb" });
    expect(processesWith("sleep 20").length).toBeLessThanOrEqual(40);
    await sandbox.terminate(spec.instanceId, 100);
    await until(() => processesWith("sleep 20").length === 0, { what: "no process left" });
  });

  test("deleted files that are still open count as disk", async () => {
    const limits = { cpuMillicores: 1_000, memoryBytes: 2 ** 27, diskBytes: 2 ** 24, processes: 64 };
    const script = 'for n in 3 4 5; do eval "exec $n> f$n"; rm f$n; head -c 8000000 /dev/zero >&$n; done; sleep 30';
    const { exit } = await runToEnd(sandbox, specOf(script, { limits }));
    expect(exit.reason).toBe("disk_exceeded");
  }, 20_000);

  test.each([true, false])(
    "a killed supervisor takes everything inside along, and the instance counts as lost (control groups: %p)",
    async (cgroups) => {
      const own = await processBench({ cgroups });
      const spec = specOf("echo up; sleep 3456");
      await own.sandbox.launch(spec);
      await untilOutput(own.sandbox, spec.instanceId);
      for (const pid of processesWith(`instances/${spec.instanceId}`)) process.kill(pid, "SIGKILL");
      const follow = { signal: AbortSignal.timeout(10_000), from: { stdout: 0, stderr: 0 }, onOutput() {} };
      expect((await own.sandbox.follow(spec.instanceId, follow)).reason).toBe("lost");
      expect(await own.sandbox.inspect(spec.instanceId)).toBe("gone");
      await until(() => processesWith("sleep 3456").length === 0, { what: "no process left" });
      await own.dispose();
    },
  );

  test("processor time is held to its share", async () => {
    if (sandbox.describe().unenforcedLimits.includes("cpu")) return;
    const limits = { cpuMillicores: 200, memoryBytes: 2 ** 27, diskBytes: 2 ** 24, processes: 64 };
    const { exit } = await runToEnd(sandbox, specOf("timeout 2 sh -c 'while :; do :; done'; times", { limits }));
    const [, user = "99"] = /\n\d+m([\d.]+)s/.exec(exit.stdout) ?? [];
    expect(Number(user)).toBeLessThan(0.9);
  });
});
