/** Instances whose calls all wait for people (docs/reference/sandboxes.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createParking } from "../../../../src/features/executions/iteration/parking.ts";
import type { Runtime } from "../../../../src/runtime/port.ts";
import { processFixture } from "../../../adapters/sandbox/fixture.ts";
import { runToEnd, type SandboxFixture, specOf } from "../../../adapters/sandbox/instances.ts";
import { until } from "../../../harness/until.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await processFixture();
});
afterAll(() => fixture.dispose());

test("a parked instance gives its slot back and goes on with its memory once answered", async () => {
  const { sandbox } = fixture;
  const spec = specOf(fixture, "n=0; while [ ! -e stop ]; do n=$((n+1)); echo $n > count; sleep 0.02; done; echo $n");
  const workspace = fixture.workspace(spec.executionId);
  const count = () => Number(readFileSync(join(workspace, "count"), "utf8") || 0);
  await sandbox.launch(spec, () => {});
  await until(() => existsSync(join(workspace, "count")), { what: "it to begin" });

  let since: number | null = null;
  const told: boolean[] = [];
  // Of the runtime only the waiting of executions is asked, which are told that they stand still.
  const runtime = {
    of: () => ({
      readListed: async (_: string, keys: string[]) => new Map(keys.map((key) => [key, { waiting: { since } }])),
      at: () => ({ tell: async (_: string, { stands }: { stands: boolean }) => void told.push(stands) }),
    }),
  } as unknown as Pick<Runtime, "of">;
  const slots: string[] = [];
  const turn = Promise.withResolvers<void>();
  const slot = {
    giveBack: () => void slots.push("given back"),
    takeAgain: async () => {
      slots.push("asked for");
      await turn.promise;
    },
  };
  const parking = createParking({ runtime, afterMs: 1_000, now: Date.now });
  const actor = { kind: "execution", key: spec.executionId, tenant: spec.tenant };
  const leave = await parking.watch({ actor, instanceId: spec.instanceId, sandbox, slot }, true);
  since = Date.now();
  if (!fixture.holds.pause) {
    await Bun.sleep(4_000);
    expect(slots).toEqual([]);
  } else {
    await until(() => parking.parked() === 1, { timeoutMs: 30_000, what: "it to be parked" });
    expect(slots).toEqual(["given back"]);
    const stoodAt = count();
    since = null;
    await until(() => slots.length === 2, { timeoutMs: 30_000, what: "it to ask for a slot" });
    expect(count()).toBe(stoodAt);
    turn.resolve();
    await until(() => count() > stoodAt, { timeoutMs: 30_000, what: "it to go on" });
    expect(slots).toEqual(["given back", "asked for"]);
    // Left parked by a node that is gone, it is woken by the one that goes on with it.
    await sandbox.pause(spec.instanceId);
    const again = await parking.watch({ actor, instanceId: spec.instanceId, sandbox, slot }, true);
    const from = count();
    await until(() => count() > from, { what: "it to go on" });
    again();
    expect(told).toEqual([false, true, false, false]);
  }
  leave();
  writeFileSync(join(workspace, "stop"), "");
  const { exit } = await runToEnd(sandbox, spec);
  expect(exit).toMatchObject({ reason: "exited", exitCode: 0 });
  expect(Number(exit.stdout)).toBe(count());
}, 120_000);
