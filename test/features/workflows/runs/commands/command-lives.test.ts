/** Commands whose node dies, and commands that are given up. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Attempts, thisMachine } from "../../../../../src/features/workflows/runs/commands/attempts.ts";
import type { CommandOptions } from "../../../../../src/features/workflows/runs/commands/spec.ts";
import { Masker } from "../../../../../src/lib/masking/masker.ts";
import { bubblewrapWorks, processFixture } from "../../../../adapters/sandbox/fixture.ts";
import { processesWith } from "../../../../harness/processes.ts";
import { until } from "../../../../harness/until.ts";
import { begin, commandOptions, directoryOf, run, script, volumeAt } from "./command-fixture.ts";

const works = await bubblewrapWorks();

describe.skipIf(!works)("a command", () => {
  let fixture: Awaited<ReturnType<typeof processFixture>>;
  let options: CommandOptions;
  beforeAll(async () => {
    fixture = await processFixture({ allowUnsandboxed: false });
    options = commandOptions(fixture.dataDir, [fixture.sandbox]);
  });
  afterAll(() => fixture.dispose());
  const attempts = () => new Attempts(fixture.dataDir);

  describe("whose node dies", () => {
    const slow = (text = "") => {
      const workspace = volumeAt("/workspace");
      const directory = directoryOf(fixture.dataDir, workspace);
      const work = script(`echo x >> runs; echo up; while [ ! -e go ]; do sleep 0.05; done; echo done${text}`, {
        mounts: [workspace],
      });
      return { work, directory, file: (name: string) => join(directory, name) };
    };

    test("is followed by the next one to its end, and ran once", async () => {
      const { work, file } = slow();
      const first = begin(options, work);
      await until(() => existsSync(file("runs")), { what: "the command to run" });
      await until(async () => (await attempts().read(work.instance_id))?.phase === "launched");
      first.abort("draining");
      expect(first.end).rejects.toBeDefined();
      const second = begin(options, work, { resumed: true });
      writeFileSync(file("go"), "");
      expect(await second.end).toMatchObject({ status: "success", exit_code: 0, stdout: "up\ndone\n", attempts: 1 });
      expect(readFileSync(file("runs"), "utf8")).toBe("x\n");
      // Its outcome may not have been taken in: whoever asks again gets it again.
      expect(await run(options, work, { resumed: true })).toMatchObject({ stdout: "up\ndone\n" });
    });

    test("is interrupted when nothing is left of it, and not rerun", async () => {
      const { work, file } = slow();
      const first = begin(options, work);
      await until(() => existsSync(file("runs")));
      await until(async () => (await attempts().read(work.instance_id))?.phase === "launched");
      first.abort("draining");
      await first.end.catch(() => {});
      await fixture.sandbox.remove(work.instance_id);
      const end = await run(options, work, { resumed: true });
      expect(end).toMatchObject({
        status: "failed",
        exit_code: null,
        error: "interrupted",
        attempts: 1,
        timed_out: false,
      });
      expect(await run(options, work, { resumed: true })).toMatchObject({ error: "interrupted" });
      expect(readFileSync(file("runs"), "utf8")).toBe("x\n");
    });

    test("is rerun by its own retry", async () => {
      const { work, file } = slow();
      const again = { ...work, retry: { max_attempts: 2, backoff_ms: 0 } };
      const first = begin(options, again);
      await until(() => existsSync(file("runs")));
      await until(async () => (await attempts().read(work.instance_id))?.phase === "launched");
      first.abort("draining");
      await first.end.catch(() => {});
      await fixture.sandbox.remove(work.instance_id);
      writeFileSync(file("go"), "");
      expect(await run(options, again, { resumed: true })).toMatchObject({ status: "success", attempts: 2 });
      expect(readFileSync(file("runs"), "utf8")).toBe("x\nx\n");
    });

    test("before it was launched is run by the next one", async () => {
      const { work, file } = slow();
      writeFileSync((await prepare(file)).go, "");
      const begun = {
        executionId: crypto.randomUUID(),
        number: 1,
        phase: "begun",
        at: Date.now(),
        error: null,
      } as const;
      await attempts().write(work.instance_id, { ...begun, machine: thisMachine });
      expect(await run(options, work, { resumed: true })).toMatchObject({ status: "success", attempts: 1 });
      const other = slow();
      writeFileSync((await prepare(other.file)).go, "");
      expect(await run(options, other.work, { resumed: true })).toMatchObject({ status: "success" });
    });

    test("prepared in its sandbox but not started, runs on the next node, however late", async () => {
      const { work, file } = slow();
      writeFileSync((await prepare(file)).go, "");
      await run(options, work);
      const instances = join(fixture.dataDir, "instances");
      const plan = readFileSync(join(instances, work.instance_id, "launch.json"), "utf8");
      for (const secondsAgo of [0, 60]) {
        const cutOff = { ...work, instance_id: crypto.randomUUID() };
        const directory = join(instances, cutOff.instance_id);
        mkdirSync(directory);
        writeFileSync(join(directory, "launch.json"), plan.replaceAll(work.instance_id, cutOff.instance_id));
        const at = Date.now() / 1_000 - secondsAgo;
        utimesSync(join(directory, "launch.json"), at, at);
        const begun = { executionId: crypto.randomUUID(), number: 1, phase: "begun", at: 1, error: null } as const;
        await attempts().write(cutOff.instance_id, { ...begun, machine: thisMachine });
        expect(await run(options, cutOff, { resumed: true })).toMatchObject({ status: "success", attempts: 1 });
      }
      expect(readFileSync(file("runs"), "utf8")).toBe("x\nx\nx\n");
    });

    test("with a value that was replaced since is interrupted: nothing could hide it", async () => {
      const { work, file } = slow(" the-old-value");
      const first = begin(options, work);
      await until(() => existsSync(file("runs")), { what: "the command to run" });
      await until(async () => (await attempts().read(work.instance_id))?.phase === "launched");
      first.abort("draining");
      await first.end.catch(() => {});
      // The node was lost before it could note that the command runs.
      const begun = { executionId: crypto.randomUUID(), number: 1, phase: "begun", error: null } as const;
      await attempts().write(work.instance_id, { ...begun, at: Date.now(), machine: thisMachine });
      writeFileSync(file("go"), "");
      const take: CommandOptions["secrets"]["take"] = async ({ env }) => ({ env, masker: new Masker() });
      const secrets = { take, look: async () => "unknown" as const };
      const end = await run({ ...options, secrets }, work, { resumed: true });
      expect(end).toMatchObject({ status: "failed", error: "interrupted" });
      expect(JSON.stringify(end)).not.toContain("the-old-value");
    });

    test("on another machine is interrupted: it is unknown whether it ran", async () => {
      const { work, file } = slow();
      expect(await run(options, work, { resumed: true, moved: true })).toMatchObject({
        error: "interrupted",
        attempts: 1,
      });
      expect(existsSync(file("runs"))).toBe(false);
      const shared = slow();
      const launched = { executionId: crypto.randomUUID(), number: 1, phase: "launched", at: 1, error: null } as const;
      await attempts().write(shared.work.instance_id, { ...launched, machine: "another" });
      expect(await run(options, shared.work, { resumed: true })).toMatchObject({ error: "interrupted" });
      const retried = slow();
      writeFileSync((await prepare(retried.file)).go, "");
      const again = { ...retried.work, retry: { max_attempts: 2, backoff_ms: 0 } };
      expect(await run(options, again, { resumed: true, moved: true })).toMatchObject({
        status: "success",
        attempts: 2,
      });
    });

    test("past its time is ended by the next one", async () => {
      const { work } = slow();
      const first = begin(options, { ...work, timeout_ms: 1_000 });
      await until(async () => (await attempts().read(work.instance_id))?.phase === "launched");
      first.abort("draining");
      await first.end.catch(() => {});
      const later = { ...options, now: () => Date.now() + 60_000 };
      const end = await run(later, { ...work, timeout_ms: 1_000 }, { resumed: true });
      expect(end).toMatchObject({ exit_code: -1, timed_out: true });
    });

    /** The volume as an earlier command left it. */
    async function prepare(file: (name: string) => string): Promise<{ readonly go: string }> {
      await Bun.write(file("left"), "");
      return { go: file("go") };
    }
  });

  test("that is given up is gone within 5 s, and nothing of it is left", async () => {
    const tag = `36${Math.floor(Math.random() * 1e6)}`;
    const work = script(`trap '' TERM; sleep ${tag} & while :; do sleep 0.05; done`);
    const given = begin(options, work);
    await until(() => processesWith(`sleep ${tag}`).length > 0, { what: "the command to run" });
    const began = performance.now();
    given.abort("abandoned");
    expect(await given.end.catch((reason) => reason)).toBe("abandoned");
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(processesWith(`sleep ${tag}`)).toEqual([]);
    expect(await fixture.sandbox.inspect(work.instance_id)).toBe("gone");
    expect(await attempts().read(work.instance_id)).toBeNull();
    expect(readdirSync(join(fixture.dataDir, "commands"))).not.toContain(work.instance_id);
  });

  test("given up before it began, or after its node died, is never run or ended", async () => {
    const aborted = AbortSignal.abort("abandoned");
    const never = script("true");
    expect(await run(options, never, { signal: aborted }).catch((reason) => reason)).toBe("abandoned");
    expect(await fixture.sandbox.inspect(never.instance_id)).toBe("gone");
    const work = script("sleep 100");
    const first = begin(options, work);
    await until(async () => (await attempts().read(work.instance_id))?.phase === "launched");
    first.abort("draining");
    await first.end.catch(() => {});
    expect(await run(options, work, { resumed: true, signal: aborted }).catch((reason) => reason)).toBe("abandoned");
    expect(await fixture.sandbox.inspect(work.instance_id)).toBe("gone");
  });
});
