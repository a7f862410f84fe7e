/** A command whose node is killed in the middle: the next node of the host goes on with it, or says that it is lost. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { Attempts } from "../../../../../src/features/workflows/runs/commands/attempts.ts";
import { commandActivity } from "../../../../../src/features/workflows/runs/commands/commands.ts";
import type { Activity } from "../../../../../src/runtime/port.ts";
import { bubblewrapWorks, processFixture } from "../../../../adapters/sandbox/fixture.ts";
import { startTestNode } from "../../../../harness/runtime/runtime.ts";
import { freshStores, type TestStores } from "../../../../harness/stores.ts";
import { until } from "../../../../harness/until.ts";
import { commandOptions, directoryOf, script, volumeAt } from "./command-fixture.ts";
import type { CommandProgram } from "./command-program.ts";

const works = await bubblewrapWorks();
let stores: TestStores;
let fixture: Awaited<ReturnType<typeof processFixture>>;
beforeAll(async () => {
  [stores, fixture] = await Promise.all([freshStores(), processFixture()]);
});
afterAll(async () => {
  await fixture.dispose();
  await stores.dispose();
});

/** Begins a command on a node, kills that node with SIGKILL, and lets another one have it. @returns its outcome there */
async function throughAKill(meanwhile: (given: { instanceId: string; directory: string }) => Promise<void>) {
  const workspace = volumeAt("/workspace");
  const directory = directoryOf(fixture.dataDir, workspace);
  const work = script("echo x >> runs; echo up; while [ ! -e go ]; do sleep 0.05; done; echo done", {
    mounts: [workspace],
  });
  const { databaseUrl, schema, redisUrl, prefix } = stores;
  const settings: CommandProgram = {
    stores: { databaseUrl, schema, redisUrl, prefix },
    dataDir: fixture.dataDir,
    work,
  };
  const program = join(import.meta.dir, "command-program.ts");
  const child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const attempts = new Attempts(fixture.dataDir);
  try {
    await until(() => existsSync(join(directory, "runs")), { timeoutMs: 30_000, what: "the command to run" });
    await until(async () => (await attempts.read(work.instance_id))?.phase === "launched");
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
  await meanwhile({ instanceId: work.instance_id, directory });

  const outcome = Promise.withResolvers<Json>();
  const activity = commandActivity(commandOptions(fixture.dataDir, [fixture.sandbox]));
  const watched: Activity = {
    ...activity,
    run: async (input, context) => {
      const value = await activity.run(input, context);
      outcome.resolve(value);
      return value;
    },
  };
  const node = await startTestNode(stores, { activities: [watched] });
  try {
    return { outcome: await outcome.promise, runs: readFileSync(join(directory, "runs"), "utf8") };
  } finally {
    await node.stop();
  }
}

test.skipIf(!works)(
  "it is re-attached, and runs once",
  async () => {
    const { outcome, runs } = await throughAKill(async ({ directory }) => writeFileSync(join(directory, "go"), ""));
    expect(outcome).toMatchObject({ status: "success", exit_code: 0, stdout: "up\ndone\n", attempts: 1, error: null });
    expect(runs).toBe("x\n");
  },
  60_000,
);

test.skipIf(!works)(
  "it was interrupted when nothing of it is left, and is not rerun",
  async () => {
    const { outcome, runs } = await throughAKill(async ({ instanceId }) => {
      const supervisor = join(fixture.dataDir, "instances", instanceId, "supervisor.json");
      process.kill(JSON.parse(readFileSync(supervisor, "utf8")).pid, "SIGKILL");
    });
    expect(outcome).toMatchObject({ status: "failed", exit_code: null, error: "interrupted", attempts: 1 });
    expect(runs).toBe("x\n");
  },
  60_000,
);
