/** The sweeps of a node leave alone what runs still need. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type SweepOptions, startSweeping } from "../../../../src/features/executions/sweep/sweep.ts";
import { instancesOf } from "../../../../src/features/workflows/runs/commands/attempts.ts";
import { heldByRuns } from "../../../../src/features/workflows/runs/sweep.ts";
import { definitionOf, human } from "../../../actors/workflow/fixture.ts";
import { fakeRuntime } from "../../../harness/runtime/fake-runtime.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let north: string;
beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north");
});
afterAll(() => fixture.dispose());

test("a live run keeps its volumes and its sandboxes, an ended one keeps nothing", async () => {
  const workspace = {
    storage_class: "ephemeral" as const,
    ttl_ms: 0,
    size_limit_bytes: 1024,
    volume_id: null,
    blackboard_key: "workspace_volume_id",
  };
  const storage = { workspace, shared_volumes: [] };
  fixture.register("north", definitionOf({ ASK: human([]) }, { name: "waits", storage }));
  const live = await fixture.start(north, "waits");
  const over = await fixture.start(north, "waits");
  await fixture.call(north, "POST", `/v1/workflows/executions/${over}/cancel`, {});
  const stranger = Bun.randomUUIDv7();
  const own = (await fixture.record(north, live)).blackboard.workspace_volume_id;
  const directory = (id: string) => join(fixture.dataDir, "workspaces", id);
  for (const id of [own, stranger]) mkdirSync(directory(id), { recursive: true });
  const command = Bun.randomUUIDv7();
  const sandboxes = [
    { instanceId: command, executionId: live },
    { instanceId: instancesOf(command)[1] ?? "", executionId: live },
    { instanceId: Bun.randomUUIDv7(), executionId: live },
    { instanceId: Bun.randomUUIDv7(), executionId: over },
    { instanceId: Bun.randomUUIDv7(), executionId: stranger },
  ];
  const removed: string[] = [];
  // As if the live one were at a command.
  const runtime = fakeRuntime({
    state: () => ({ status: "running", current: { work: { of: "command", activity: `command:${command}` } } }),
  });
  const stop = startSweeping({
    runtime: fakeRuntime({}),
    records: {
      known: async () => [],
      endedBefore: async () => [],
      toTrim: async () => [],
      agentsAtWork: async () => [],
    } as unknown as SweepOptions["records"],
    instances: {
      list: async () => sandboxes,
      terminate: async () => {},
      remove: async (id: string) => {
        removed.push(id);
      },
    } as unknown as SweepOptions["instances"],
    volumes: fixture.volumes,
    runs: heldByRuns(runtime, fixture.records),
    deletedAgents: { agents: { gone: async () => [] }, cancelOfAgent: async () => {} },
    retentionDays: 90,
    now: Date.now,
    report: () => {},
  });
  await until(() => removed.length === 3 && !existsSync(directory(stranger)), { what: "the sweep" });
  await stop();
  expect(removed).toEqual(sandboxes.slice(2).map(({ instanceId }) => instanceId));
  expect(existsSync(directory(own))).toBe(true);
});
