/** Volumes of runs: made before the first state, mounted, counted, gone with the run or kept. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { usualTerms } from "../../../../actors/policy/quota.ts";
import { storageQuota } from "../../../../actors/policy/storage-quota.ts";
import type { Definition } from "../../../../actors/workflow/definition.ts";
import { startErasing } from "../../../../src/features/workflows/runs/sweep.ts";
import { definitionOf, human } from "../../../actors/workflow/fixture.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let north: string;
beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north");
});
afterAll(() => fixture.dispose());

type Workspace = NonNullable<Definition["storage"]["workspace"]>;
const workspaceOf = (change: Partial<Workspace> = {}): Workspace => ({
  storage_class: "ephemeral",
  ttl_ms: 3_600_000,
  size_limit_bytes: 1024,
  volume_id: null,
  blackboard_key: "workspace_volume_id",
  ...change,
});
let number = 0;
/** A workflow that waits for a person, with this storage. @returns its name */
function register(storage: Partial<Definition["storage"]>, owner = "north", name = `stored-${++number}`): string {
  const whole = { workspace: null, shared_volumes: [], ...storage };
  fixture.register(owner, definitionOf({ ASK: human([]) }, { name, storage: whole }));
  return name;
}
const cancel = (id: string, token = north) => fixture.call(token, "POST", `/v1/workflows/executions/${id}/cancel`, {});
const rowOf = async (id: string) =>
  (await fixture.stores.sql`select kind, label, deleted_at from volumes where volume_id = ${id}`)[0];
const headerOf = async (id: string) => (await fixture.runs.find("north", id)).state.header;
const shared = (name: string, storage_class: "ephemeral" | "persistent" = "ephemeral") => ({
  name,
  storage_class,
  size_limit_bytes: 2048,
});

describe("settling", () => {
  test("workspace and shared volumes exist before the first state and are named there", async () => {
    const name = register({ workspace: workspaceOf(), shared_volumes: [shared("cache")] });
    const id = await fixture.start(north, name);
    const { blackboard } = await fixture.record(north, id);
    const { volumes } = await headerOf(id);
    expect(volumes.map((volume) => [volume.name, volume.mount_path, volume.storage_class])).toEqual([
      ["workspace", "/workspace", "ephemeral"],
      ["cache", "", "ephemeral"],
    ]);
    expect(volumes.map(({ volume_id }) => volume_id)).toEqual([
      blackboard.workspace_volume_id,
      blackboard.cache_volume_id,
    ]);
    expect(await rowOf(blackboard.cache_volume_id)).toMatchObject({ kind: "run", label: "cache" });
  });

  test("nothing is stored for a run without storage", async () => {
    const id = await fixture.start(north, register({}));
    expect((await headerOf(id)).volumes).toEqual([]);
  });

  test("a persistent volume is one per tenant, workflow and name, for all versions", async () => {
    const storage = { shared_volumes: [shared("lasting", "persistent")] };
    const name = register(storage);
    const first = await fixture.record(north, await fixture.start(north, name));
    register(storage, "north", name);
    const second = await fixture.record(north, await fixture.start(north, name));
    expect(second.blackboard.lasting_volume_id).toBe(first.blackboard.lasting_volume_id);
    const other = await fixture.record(north, await fixture.start(north, register(storage)));
    expect(other.blackboard.lasting_volume_id).not.toBe(first.blackboard.lasting_volume_id);
  });

  test("a volume named at the start is used if it is the tenant's, else refused", async () => {
    const name = register({ workspace: workspaceOf({ blackboard_key: "desk" }), shared_volumes: [shared("cache")] });
    const lasting = register({ shared_volumes: [shared("lasting", "persistent")] });
    const mine = (await fixture.record(north, await fixture.start(north, lasting))).blackboard.lasting_volume_id;
    const south = fixture.caller("south");
    register({ shared_volumes: [shared("lasting", "persistent")] }, "south", "theirs");
    const started = await fixture.start(south, "theirs");
    const theirs = (await fixture.record(south, started)).blackboard.lasting_volume_id;
    const boardOf = async (blackboard: object) =>
      (await fixture.record(north, await fixture.start(north, name, { blackboard: { ...blackboard } }))).blackboard;
    expect((await boardOf({ cache_volume_id: mine })).cache_volume_id).toBe(mine);
    expect((await boardOf({ desk: mine.toUpperCase() })).desk).toBe(mine);
    for (const odd of [theirs, "not a volume", 7, Bun.randomUUIDv7()]) {
      for (const key of ["cache_volume_id", "workspace_volume_id", "desk"]) {
        const body = { blackboard: { [key]: odd } };
        const answer = await fixture.call(north, "POST", `/v1/workflows/${name}/run`, body);
        expect([answer.status, answer.body]).toMatchObject([
          422,
          { code: "invalid_volume", issues: [{ path: `blackboard.${key}`, code: "volume_not_found" }] },
        ]);
      }
    }
  });

  test("a manifest's own volume must be there; a limit must fit the plan", async () => {
    for (const workspace of [
      workspaceOf({ volume_id: Bun.randomUUIDv7() }),
      workspaceOf({ size_limit_bytes: storageQuota(usualTerms("north")).tenantBytes + 1 }),
    ]) {
      const answer = await fixture.call(north, "POST", `/v1/workflows/${register({ workspace })}/run`, {});
      expect([answer.status, answer.body.code]).toEqual([422, "invalid_volume"]);
    }
  });

  test("what runs hold counts in the tenant's quota", async () => {
    const token = fixture.caller("full");
    const name = register({ workspace: workspaceOf() }, "full");
    const id = await fixture.start(token, name);
    const { workspace_volume_id } = (await fixture.record(token, id)).blackboard;
    const directory = join(fixture.dataDir, "workspaces", workspace_volume_id);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "file"), "x".repeat(500));
    await fixture.volumes.measureWritten();
    expect(await fixture.volumes.records.usedBytes("full")).toBe(500);
    const limit = storageQuota(usualTerms("full")).tenantBytes;
    await fixture.stores.sql`update volumes set used_bytes = ${limit} where volume_id = ${workspace_volume_id}`;
    const answer = await fixture.call(token, "POST", `/v1/workflows/${name}/run`, {});
    expect([answer.status, answer.body.code]).toEqual([402, "quota_exceeded"]);
  });
});

describe("the end", () => {
  test("ephemeral volumes go with the run, persistent ones stay and are free", async () => {
    const name = register({
      workspace: workspaceOf(),
      shared_volumes: [shared("cache"), shared("lasting", "persistent")],
    });
    const id = await fixture.start(north, name);
    const { workspace_volume_id, cache_volume_id, lasting_volume_id } = (await fixture.record(north, id)).blackboard;
    const directory = join(fixture.dataDir, "workspaces", workspace_volume_id);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "file"), "x");
    expect((await fixture.volumes.attached([lasting_volume_id])).has(lasting_volume_id)).toBe(true);
    await cancel(id);
    await until(async () => (await rowOf(workspace_volume_id)) === undefined, { what: "the rows to go" });
    expect([existsSync(directory), await rowOf(cache_volume_id)]).toEqual([false, undefined]);
    expect(await rowOf(lasting_volume_id)).toMatchObject({ kind: "workflow", deleted_at: null });
    await until(async () => !(await fixture.volumes.attached([lasting_volume_id])).has(lasting_volume_id), {
      what: "it to be free",
    });
    const mounts = () => fixture.stores.sql`select 1 from volume_mounts where execution_id = ${id}`;
    await until(async () => (await mounts()).length === 0, { what: "its mounts to be forgotten" });
  });

  test("a retry has ephemeral volumes of its own and the lasting ones of the earlier run", async () => {
    const name = register({ shared_volumes: [shared("cache"), shared("lasting", "persistent")] });
    const id = await fixture.start(north, name);
    const before = (await fixture.record(north, id)).blackboard;
    await cancel(id);
    const { body } = await fixture.call(north, "POST", `/v1/workflows/executions/${id}/retry`, {});
    const after = (await fixture.record(north, body.execution_id)).blackboard;
    expect(after.lasting_volume_id).toBe(before.lasting_volume_id);
    expect(after.cache_volume_id).not.toBe(before.cache_volume_id);
    expect(await rowOf(after.cache_volume_id)).toMatchObject({ kind: "run" });
    // One that was named at the start is named again.
    const named = await fixture.start(north, name, { blackboard: { cache_volume_id: before.lasting_volume_id } });
    await cancel(named);
    const again = await fixture.call(north, "POST", `/v1/workflows/executions/${named}/retry`, {});
    const { blackboard } = await fixture.record(north, again.body.execution_id);
    expect(blackboard.cache_volume_id).toBe(before.lasting_volume_id);
  });

  test("records past their retention are erased", async () => {
    const old = await fixture.start(north, register({}));
    const young = await fixture.start(north, register({}));
    await cancel(old);
    await cancel(young);
    await fixture.stores.sql`update workflow_runs set ended_at = now() - interval '91 days' where run_id = ${old}`;
    const stop = startErasing({
      runtime: fixture.runtime,
      records: fixture.records,
      volumes: fixture.volumes,
      retentionDays: 90,
      now: Date.now,
      report: () => {},
    });
    const statusOf = async (id: string) => (await fixture.call(north, "GET", `/v1/workflows/executions/${id}`)).status;
    await until(async () => (await statusOf(old)) === 404, { what: "the old record to go" });
    await stop();
    expect(await statusOf(young)).toBe(200);
  });
});
