import { expect, test } from "bun:test";
import { existsSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { InstanceSpec } from "../../../../src/adapters/sandbox/port.ts";
import { until } from "../../../harness/until.ts";
import { sandboxConformance } from "../conformance.ts";
import { processFixture } from "../fixture.ts";
import { runToEnd, specOf } from "../instances.ts";
import { optionsConformance } from "../options-conformance.ts";

sandboxConformance("process without bubblewrap", () => processFixture({ bubblewrap: false }));
sandboxConformance("process without bubblewrap and without control groups", () =>
  processFixture({ bubblewrap: false, cgroups: false }),
);
optionsConformance("process without bubblewrap", () => processFixture({ bubblewrap: false }));

/** Starts the launch by a process that stops itself in the middle of it. @returns the stopped process */
async function frozenLaunch(dataDir: string, spec: InstanceSpec): Promise<Bun.Subprocess> {
  const program = join(import.meta.dir, "frozen-launch-program.ts");
  const launching = Bun.spawn([process.execPath, program, dataDir, JSON.stringify(spec)], { stderr: "inherit" });
  const state = () => readFileSync(`/proc/${launching.pid}/stat`, "utf8").split(") ")[1]?.[0];
  await until(() => state() === "T", { timeoutMs: 30_000, what: "the launch to freeze" });
  return launching;
}

test.each(["ran it", "gave it up"])(
  "a launch frozen in its middle starts nothing after another node %s",
  async (what) => {
    const fixture = await processFixture({ bubblewrap: false });
    const { sandbox, dataDir } = fixture;
    const spec = specOf(fixture, "echo begun >> begun");
    const begun = join(fixture.workspace(spec.executionId), "begun");
    const launching = await frozenLaunch(dataDir, spec);
    try {
      if (what === "ran it") expect((await runToEnd(sandbox, spec)).exit.exitCode).toBe(0);
      await sandbox.terminate(spec.instanceId, 0);
      await sandbox.remove(spec.instanceId);
      expect(await sandbox.inspect(spec.instanceId)).toBe("gone");
      expect(await sandbox.list()).toEqual([]);
    } finally {
      launching.kill("SIGCONT");
      await launching.exited;
    }
    const follow = { signal: AbortSignal.timeout(30_000), from: { stdout: 0, stderr: 0 }, onOutput() {} };
    expect((await sandbox.follow(spec.instanceId, follow)).reason).toBe("lost");
    expect(existsSync(begun) ? readFileSync(begun, "utf8") : "").toBe(what === "ran it" ? "begun\n" : "");
    await fixture.dispose();
  },
  90_000,
);

test("the mark of a removed instance goes once its launch cannot come any more", async () => {
  const { sandbox, dataDir, dispose } = await processFixture({ bubblewrap: false });
  const id = crypto.randomUUID();
  await sandbox.remove(id);
  const mark = join(dataDir, "instances", id);
  await sandbox.list();
  expect(existsSync(mark)).toBe(true);
  const hourAgo = Date.now() / 1_000 - 3_600;
  utimesSync(join(mark, "claim"), hourAgo, hourAgo);
  await sandbox.list();
  expect(existsSync(mark)).toBe(false);
  await dispose();
});
