/** How instances in bubblewrap are held to their limits, and how they end. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "../../../../../src/adapters/sandbox/port.ts";
import { processesWith } from "../../../../harness/processes.ts";
import { until } from "../../../../harness/until.ts";
import { bubblewrapWorks, processFixture } from "../../fixture.ts";
import { runToEnd, specOf, untilOutput } from "../../instances.ts";

const works = await bubblewrapWorks();

function isRemoved(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
  }
  return !existsSync(folder);
}

describe.skipIf(!works)("bubblewrap holds", () => {
  let fixture: Awaited<ReturnType<typeof processFixture>>;
  let sandbox: Sandbox;
  beforeAll(async () => {
    fixture = await processFixture();
    sandbox = fixture.sandbox;
  });
  afterAll(() => fixture.dispose());

  test("1 GB on standard output harms neither node nor disk", async () => {
    const spec = specOf(fixture, "head -c 1000000000 /dev/zero; echo end");
    const before = process.memoryUsage().rss;
    await sandbox.launch(spec, () => {});
    let told = 0;
    const exit = await sandbox.follow(spec.instanceId, {
      signal: AbortSignal.timeout(50_000),
      from: { stdout: 0, stderr: 0 },
      onOutput: ({ offset, bytes }) => {
        told = offset + bytes;
      },
    });
    expect(told).toBe(1_000_000_004);
    expect(exit).toMatchObject({ exitCode: 0, stdoutTruncated: true });
    expect(exit.stdout.endsWith("end\n")).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
    const kept = Bun.spawnSync(["du", "-sk", join(fixture.dataDir, "instances", spec.instanceId)]).stdout.toString();
    expect(Number.parseInt(kept, 10)).toBeLessThan(4_096);
  }, 60_000);

  test("a fork bomb stays within its limit and is ended whole", async () => {
    const limits = { cpuMillicores: 200, memoryBytes: 128 * 2 ** 20, diskBytes: 2 ** 24, processes: 40 };
    if (sandbox.describe().unenforcedLimits.includes("processes")) return;
    // No other process of the machine, of another test neither, has these arguments.
    const bomber = `sleep 20.${Math.floor(Math.random() * 1e6)}`;
    const bomb = `n=0; while [ $n -lt 300 ]; do ${bomber} & n=$((n+1)); done 2>/dev/null; echo survived`;
    const spec = specOf(fixture, `(${bomb}); ls /proc | grep -c '^[0-9]'; true`, { limits });
    await sandbox.launch(spec, () => {});
    await until(() => processesWith(bomber).length > 5, { what: "the bomb" });
    expect(processesWith(bomber).length).toBeLessThanOrEqual(40);
    await sandbox.terminate(spec.instanceId, 100);
    await until(() => processesWith(bomber).length === 0, { what: "no process left" });
  });

  test("deleted files that are still open count as disk", async () => {
    const limits = { cpuMillicores: 1_000, memoryBytes: 2 ** 27, diskBytes: 2 ** 24, processes: 64 };
    const script = 'for n in 3 4 5; do eval "exec $n> f$n"; rm f$n; head -c 8000000 /dev/zero >&$n; done; sleep 30';
    const { exit } = await runToEnd(sandbox, specOf(fixture, script, { limits }));
    expect(exit.reason).toBe("disk_exceeded");
  }, 20_000);

  test("files without content count as disk: file systems run out of them, too", async () => {
    const limits = { cpuMillicores: 1_000, memoryBytes: 2 ** 27, diskBytes: 2 ** 23, processes: 64 };
    const script = "mkdir many; cd many; seq 1 20000 | xargs touch; sleep 30";
    const { exit } = await runToEnd(sandbox, specOf(fixture, script, { limits }));
    expect(exit.reason).toBe("disk_exceeded");
  }, 20_000);

  test("a deleted file that is only mapped any more counts as disk", async () => {
    const limits = { cpuMillicores: 1_000, memoryBytes: 2 ** 27, diskBytes: 2 ** 23, processes: 64 };
    const mapping = [
      "import ctypes, os, time",
      "c = ctypes.CDLL(None); c.mmap.restype = ctypes.c_void_p",
      "for n in range(3):",
      "  f = os.open('f', os.O_CREAT | os.O_RDWR); os.posix_fallocate(f, 0, 4000000); os.unlink('f')",
      "  c.mmap(None, ctypes.c_size_t(4000000), 3, 1, f, ctypes.c_long(0)); os.close(f)",
      "time.sleep(30)",
    ].join("\n");
    const { exit } = await runToEnd(sandbox, specOf(fixture, `python3 -c "${mapping}"`, { limits }));
    expect(exit.reason).toBe("disk_exceeded");
  }, 20_000);

  test("processor time is held to its share", async () => {
    if (sandbox.describe().unenforcedLimits.includes("cpu")) return;
    const limits = { cpuMillicores: 200, memoryBytes: 2 ** 27, diskBytes: 2 ** 24, processes: 64 };
    const { exit } = await runToEnd(
      sandbox,
      specOf(fixture, "timeout 2 sh -c 'while :; do :; done'; times", { limits }),
    );
    const [, user = "99"] = /\n\d+m([\d.]+)s/.exec(exit.stdout) ?? [];
    expect(Number(user)).toBeLessThan(0.9);
  });

  test("a launch that breaks off while it is written leaves nothing behind", async () => {
    const own = await processFixture();
    const limits = { cpuMillicores: 1_000, memoryBytes: 2 ** 27, diskBytes: 2 ** 23, processes: 64 };
    const full = Object.assign(limits, {
      toJSON: () => {
        throw new Error("no space left");
      },
    });
    const prompt = "x".repeat(200_000);
    await expect(own.sandbox.launch(specOf(own, "true", { limits: full, prompt }), () => {})).rejects.toThrow(
      "no space left",
    );
    expect(readdirSync(join(own.dataDir, "instances"))).toEqual([]);
    await own.dispose();
  });

  test.each([true, false])(
    "killing the supervisor ends all inside; the instance is lost (cgroups: %p)",
    async (cgroups) => {
      const own = await processFixture({ cgroups });
      const spec = specOf(own, "echo up; sleep 3456");
      await own.sandbox.launch(spec, () => {});
      await untilOutput(own.sandbox, spec.instanceId);
      for (const pid of processesWith(`instances/${spec.instanceId}`)) process.kill(pid, "SIGKILL");
      const follow = { signal: AbortSignal.timeout(10_000), from: { stdout: 0, stderr: 0 }, onOutput() {} };
      expect((await own.sandbox.follow(spec.instanceId, follow)).reason).toBe("lost");
      expect(await own.sandbox.inspect(spec.instanceId)).toBe("gone");
      await until(() => processesWith("sleep 3456").length === 0, { what: "no process left" });
      await own.dispose();
    },
  );

  test.each([
    ["a silent one in bubblewrap", true, "echo up; sleep 3457"],
    ["a silent one outside", false, "echo up; sleep 3457"],
    ["one that writes on", true, "echo up; yes 3457"],
  ])(
    "an instance whose folder was removed ends with its supervisor: %s",
    async (_, bubblewrap, script) => {
      const own = await processFixture({ bubblewrap });
      const spec = specOf(own, script);
      await own.sandbox.launch(spec, () => {});
      await untilOutput(own.sandbox, spec.instanceId);
      expect(processesWith("3457")).not.toEqual([]);
      // While its supervisor writes there, a removal can find a file that it did not list.
      await until(() => isRemoved(join(own.dataDir, "instances", spec.instanceId)), { what: "the folder to go" });
      await until(() => processesWith("3457").length === 0, { timeoutMs: 30_000, what: "its processes to end" });
      await until(() => processesWith(`instances/${spec.instanceId}`).length === 0, {
        timeoutMs: 30_000,
        what: "its supervisor to end",
      });
      await own.dispose();
    },
    70_000,
  );
});
