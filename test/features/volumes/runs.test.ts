/** Volumes of runs: settled, mounted under the policy, kept for their time, taken away. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VolumeSpec } from "../../../actors/agent/manifest/spec.ts";
import { executionProtocol } from "../../../actors/execution/messages.ts";
import { judgeMounts, sourceIds } from "../../../actors/execution/start/mounts.ts";
import type { MountPlan } from "../../../actors/execution/start/plan.ts";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import { usualTerms } from "../../../actors/policy/quota.ts";
import { createExecutionFiles, executionFileRoutes } from "../../../src/features/executions/files.ts";
import type { Found } from "../../../src/features/executions/service.ts";
import { VolumeLayout } from "../../../src/features/volumes/layout.ts";
import { localPlaces } from "../../../src/features/volumes/places/local/local-places.ts";
import { createVolumes, type Volumes } from "../../../src/features/volumes/runs/execution-volumes.ts";
import type { WantedVolumes } from "../../../src/features/volumes/runs/settle.ts";
import { samplePlan } from "../../actors/execution/fixture.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let volumes: Volumes;
let dataDir: string;
let ended: Map<string, Date | null>;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(async () => {
  await stores.dispose();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  ended = new Map();
  const layout = new VolumeLayout(dataDir);
  volumes = createVolumes({
    sql: stores.sql,
    layout,
    places: localPlaces(stores.sql, layout),
    executions: async (ids) =>
      ids.flatMap((id) => {
        const at = ended.get(id);
        return at === undefined ? [] : [{ id, ended_at: at }];
      }),
    newId: Bun.randomUUIDv7,
    now: Date.now,
    recordViolation: () => {},
    terms: async (tenant) => usualTerms(tenant),
  });
});

const runOf = (executionId: string) => ({ executionId, instanceId: newId(), signal: new AbortController().signal });
const spec = (change: Partial<VolumeSpec>): VolumeSpec => ({
  name: "data",
  mount_path: "/workspace/data",
  storage_class: "ephemeral",
  access_mode: "read-write",
  size_limit_bytes: 1000,
  ttl_ms: 3600_000,
  source_volume_id: null,
  ...change,
});
const free = { read: [], write: [], read_only: false };
const newId = () => Bun.randomUUIDv7();
const account = { kind: "service_account", realm: "svc-system", userId: "u", membership: null, tier: null } as const;

async function settleIn(tenant: string, wanted: Pick<WantedVolumes, "declared"> & Partial<WantedVolumes>) {
  const { declared, reader = account } = wanted;
  const sources = await volumes.readable(tenant, reader, sourceIds(declared));
  const start = { agentId: newId(), executionId: newId(), attachments: [], ofRun: [] };
  return volumes.settle({ ...start, tenant, reader, sources, ...wanted });
}
const settle = (agentId: string, executionId: string, ...declared: VolumeSpec[]) =>
  settleIn("t", { agentId, executionId, declared });

describe("settling", () => {
  test("without a volume at /workspace there is one; nothing is stored for it", async () => {
    const run = newId();
    expect(await settle(newId(), run)).toEqual([
      {
        name: "workspace",
        volume_id: run,
        mount_path: "/workspace",
        storage_class: "ephemeral",
        access_mode: "read-write",
        size_limit_bytes: 256 * 2 ** 20,
        ttl_ms: 24 * 3600_000,
      },
    ]);
    const declared = await settle(newId(), run, spec({ mount_path: "/workspace" }));
    expect(declared.map(({ mount_path, name }) => [mount_path, name])).toEqual([["/workspace", "data"]]);
  });

  test("a persistent volume is one per tenant, agent and name, at concurrent starts too", async () => {
    const agent = newId();
    const lasting = spec({ storage_class: "persistent" });
    const plans = await Promise.all(Array.from({ length: 10 }, () => settle(agent, newId(), lasting)));
    const idOf = (plan: MountPlan[]) => plan.find(({ name }) => name === "data")?.volume_id;
    expect(new Set(plans.map(idOf)).size).toBe(1);
    expect(idOf(await settle(newId(), newId(), lasting))).not.toBe(idOf(plans[0] ?? []));
    const elsewhere = await settleIn("other", { agentId: agent, declared: [lasting] });
    expect(idOf(elsewhere)).not.toBe(idOf(plans[0] ?? []));
  });

  test("a source that the starter may not read is none", async () => {
    const declared = [spec({ source_volume_id: newId() }), spec({ name: "own" })];
    expect((await volumes.readable("t", account, sourceIds(declared))).size).toBe(0);
  });

  test("a judge has its parent's volumes, read-only, at the same paths", async () => {
    const parent = await settle(newId(), newId(), spec({}));
    const judge = judgeMounts(parent);
    expect(judge.map(({ volume_id, mount_path }) => [volume_id, mount_path])).toEqual(
      parent.map(({ volume_id, mount_path }) => [volume_id, mount_path]),
    );
    await volumes.instanceMounts("t", runOf(newId()), { mounts: parent, filesystem: free });
    const mounts = await volumes.instanceMounts("t", runOf(newId()), { mounts: judge, filesystem: free });
    expect(mounts.map(({ target, readOnly }) => [target, readOnly])).toEqual([
      ["/workspace", true],
      ["/workspace/data", true],
    ]);
  });
});

describe("bounds that volumes share", () => {
  const MiB = 2 ** 20;

  test("writing beyond the owner's allowance is told, and what is held by then noted", async () => {
    const tenant = `u-${newId().replaceAll("-", "")}`;
    const lasting = spec({ storage_class: "persistent", size_limit_bytes: 2 ** 30 });
    const executionId = newId();
    const mounts = await settleIn(tenant, { executionId, declared: [lasting] });
    const filesystem = free;
    await volumes.instanceMounts(tenant, runOf(executionId), { mounts, filesystem });
    // All but 10 MiB of what a free tenant's user may keep lies in another volume.
    await settleIn(tenant, { declared: [{ ...lasting, name: "other" }] });
    await stores.sql`
      update volumes set used_bytes = ${490 * MiB} where tenant = ${tenant} and label = 'other'`;
    const id = mounts.find(({ name }) => name === "data")?.volume_id ?? "";
    const rooms = (await volumes.view({ mounts, filesystem }, tenant)).mounts;
    expect(rooms.find(({ target }) => target === "/workspace/data")?.freeBytes).toBe(10 * MiB);
    const told: { quota: string }[] = [];
    const held: number[] = [];
    const plan = { mounts, filesystem, resources: { ...samplePlan().resources, disk_bytes: 2 ** 30 } };
    const end = volumes.watchLimits({
      tenant,
      executionId,
      plan,
      hold: (work) => work().finally(() => held.push(1)),
      exceeded: (room) => void told.push(room),
    });
    try {
      await until(async () => (await volumes.records.usedBytes(tenant)) === 490 * MiB, { what: "the records" });
      writeFileSync(join(volumes.layout.volume(id), "big"), Buffer.alloc(12 * MiB, 1));
      await until(() => told.length > 0, { timeoutMs: 20_000, what: "the bound to be found passed" });
    } finally {
      end();
    }
    expect(told).toMatchObject([{ quota: "user_bytes", limit: 500 * MiB, volumeId: null, bytes: -2 * MiB }]);
    await until(async () => (await volumes.records.usedBytes(tenant)) === 502 * MiB, { what: "the note" });
  });
});

describe("mounting", () => {
  const at = (run: string, ...path: string[]) => join(dataDir, "workspaces", run, ...path);

  test("directories are made for the agents' user; a writable part is, too", async () => {
    const run = newId();
    const mounts = await settle(newId(), run);
    const found = await volumes.instanceMounts("t", runOf(run), {
      mounts,
      filesystem: { ...free, write: ["/workspace/a/b"] },
    });
    expect(found).toEqual([
      { source: at(run), target: "/workspace", readOnly: true },
      { source: at(run, "a/b"), target: "/workspace/a/b", readOnly: false },
    ]);
    if (process.getuid?.() === 0) {
      expect([at(run), at(run, "a"), at(run, "a/b")].map((path) => statSync(path).uid)).toEqual([1000, 1000, 1000]);
    }
  });

  test("what is hidden is an empty directory of its own; what is missing is not mounted", async () => {
    const run = newId();
    const mounts = await settle(newId(), run);
    mkdirSync(at(run, "in"), { recursive: true });
    writeFileSync(at(run, "file"), "x");
    const rules = { ...free, read: ["/workspace/in", "/workspace/file", "/workspace/none"], read_only: true };
    const found = await volumes.instanceMounts("t", runOf(run), { mounts, filesystem: rules });
    expect(found.map(({ target, readOnly }) => [target, readOnly])).toEqual([
      ["/workspace", true],
      ["/workspace/in", true],
      ["/workspace/file", true],
    ]);
    expect(found[0]?.source).toStartWith(join(dataDir, "hidden", run));
    expect(readdirSync(found[0]?.source ?? "")).toEqual([]);
  });

  test.each(["link", "link/inner", "file/inner"])("%s in the way of a mount is a volume_error", async (path) => {
    const run = newId();
    const mounts = await settle(newId(), run);
    mkdirSync(at(run), { recursive: true });
    symlinkSync("/etc", at(run, "link"));
    writeFileSync(at(run, "file"), "");
    const rules = { ...free, write: [`/workspace/${path}`] };
    const failure = await volumes
      .instanceMounts("t", runOf(run), { mounts, filesystem: rules })
      .catch((error) => error);
    expect(failure).toMatchObject({ name: "LaunchFailure", code: "volume_error" });
  });

  test("a partly shown volume is shared only with runs of the same view, while they run", async () => {
    const agent = newId();
    const mount = async (write: string[]) => {
      const run = newId();
      const mounts = await settle(agent, run, spec({ storage_class: "persistent" }));
      ended.set(run, null);
      const mounting = volumes.instanceMounts("t", runOf(run), { mounts, filesystem: { ...free, write } });
      const failure = await mounting.then(() => null).catch((error: unknown) => error);
      // What could not be launched does not go on running.
      if (failure !== null) ended.set(run, new Date());
      return { run, failure };
    };
    const part = ["/workspace/data/out"];
    const first = await mount(part);
    expect([first.failure, (await mount(part)).failure]).toEqual([null, null]);
    for (const other of [[], ["/workspace/data/out/deeper"]]) {
      expect((await mount(other)).failure).toMatchObject({ name: "LaunchFailure", code: "volume_error" });
    }
    for (const run of ended.keys()) ended.set(run, new Date());
    const [one, two] = [await mount([]), await mount([])];
    expect([one.failure, two.failure]).toEqual([null, null]);
    expect((await mount(part)).failure).toMatchObject({ code: "volume_error" });
  });

  test("the fs tools are told how much room is left only when they may need it", async () => {
    const run = newId();
    const mounts = await settle(newId(), run, spec({ mount_path: "/workspace" }));
    const plan = { mounts, filesystem: free };
    const id = mounts[0]?.volume_id ?? "";
    expect(await volumes.view(plan, null)).toMatchObject({ mounts: [{ host: at(id), freeBytes: null }], rules: null });
    writeFileSync(at(id, "f"), "x".repeat(600));
    expect((await volumes.view(plan, "acme")).mounts[0]?.freeBytes).toBe(400);
    writeFileSync(at(id, "f"), "x".repeat(1600));
    expect((await volumes.view(plan, "acme")).mounts[0]?.freeBytes).toBe(0);
  });
});

describe("the end", () => {
  test.each([
    ["an erased execution removes", (run: string) => volumes.removeOfExecution(run)],
    ["one erased by its retention removes", (run: string) => volumes.removeOfErased([run, newId()])],
  ] as const)("%s its workspace and ephemeral volumes, no other", async (_, remove) => {
    const [agent, run, other] = [newId(), newId(), newId()];
    const lasting = spec({ name: "lasting", mount_path: "/workspace/lasting", storage_class: "persistent" });
    await settle(agent, other, lasting);
    const mounts = await settle(agent, run, spec({}), lasting);
    await volumes.instanceMounts("t", runOf(run), { mounts, filesystem: { ...free, read: ["/workspace/none"] } });
    expect(readdirSync(join(dataDir, "workspaces")).length).toBe(2);
    await remove(run);
    await remove(run);
    expect([readdirSync(join(dataDir, "workspaces")), readdirSync(join(dataDir, "hidden"))]).toEqual([[], []]);
    expect(readdirSync(join(dataDir, "volumes")).length).toBe(1);
    const [left] = await stores.sql`
      select count(*) filter (where execution_id = ${run})::int as own,
        count(*) filter (where execution_id = ${other})::int as others from volume_mounts`;
    expect(left).toEqual({ own: 0, others: 1 });
  });

  test("what this host holds is known with the time it is kept for", async () => {
    const run = newId();
    const mounts = await settle(newId(), run, spec({ ttl_ms: 7200_000 }));
    await volumes.instanceMounts("t", runOf(run), { mounts, filesystem: free });
    const held = await volumes.heldForRuns();
    const mine = held.filter(({ executionId }) => executionId === run);
    expect(new Set(mine.map(({ ttlMs }) => ttlMs))).toEqual(new Set([24 * 3600_000, 7200_000]));
    for (const volume of mine) await volumes.removeHeld(volume);
    expect((await volumes.heldForRuns()).filter(({ executionId }) => executionId === run)).toEqual([]);
  });

  test("an agent's volumes go once nothing works with them any more", async () => {
    const [agent, run] = [newId(), newId()];
    const mounts = await settle(agent, run, spec({ storage_class: "persistent" }));
    await volumes.instanceMounts("t", runOf(run), { mounts, filesystem: free });
    ended.set(run, null);
    await volumes.removeOfAgent(agent);
    await volumes.eraseDeleted();
    expect(readdirSync(join(dataDir, "volumes")).length).toBe(1);
    ended.set(run, new Date());
    await volumes.eraseDeleted();
    expect(readdirSync(join(dataDir, "volumes"))).toEqual([]);
    const [again] = (await settle(agent, newId(), spec({ storage_class: "persistent" }))).slice(-1);
    expect(again?.volume_id).not.toBe(mounts.at(-1)?.volume_id);
  });

  test("what agents wrote is counted, finally once no writer is left", async () => {
    const [agent, run] = [newId(), newId()];
    const mounts = await settle(agent, run, spec({ storage_class: "persistent" }));
    const id = mounts.at(-1)?.volume_id ?? "";
    await volumes.instanceMounts("t", runOf(run), { mounts, filesystem: free });
    writeFileSync(join(dataDir, "volumes", id, "f"), "12345");
    const row = async () => (await volumes.records.readable("t", [id], { all: true, owner: null }))[0];
    ended.set(run, null);
    await volumes.measureWritten();
    expect(await row()).toMatchObject({ used_bytes: 5, file_count: 1, measured: false });
    ended.set(run, new Date());
    await volumes.measureWritten();
    expect(await row()).toMatchObject({ used_bytes: 5, measured: true });
  });

  test("uploads that a crash cut off are swept, those under way are not", async () => {
    const uploads = join(dataDir, "volumes", ".uploads");
    mkdirSync(uploads, { recursive: true });
    for (const name of ["old", "new"]) writeFileSync(join(uploads, name), "");
    utimesSync(join(uploads, "old"), 1, 1);
    await volumes.eraseDeleted();
    expect(readdirSync(uploads)).toEqual(["new"]);
  });
});

describe("files of a run whose directory is not here", () => {
  const run = newId();
  const mounts = (): MountPlan[] => [
    {
      name: "workspace",
      volume_id: run,
      mount_path: "/workspace",
      storage_class: "ephemeral",
      access_mode: "read-write",
      size_limit_bytes: 1,
      ttl_ms: 1000,
    },
  ];
  const list = (state: { ending: { at: number } | null; spawned: boolean }, now: number) => {
    const found = {
      at: { kind: executionProtocol.kind, key: run, tenant: "t" },
      state: { ...state, iteration: { spawned: state.spawned, number: 1 } } as unknown as ExecutionState,
    } satisfies Found;
    const [route] = executionFileRoutes(
      createExecutionFiles({
        executions: { find: async () => found },
        plans: { of: async () => samplePlan({ mounts: mounts() }) },
        volumes,
        now: () => now,
      }),
    );
    const call = {
      params: { id: run },
      query: { path: "/", recursive: false },
      tenant: "t",
      signal: new AbortController().signal,
    };
    return Promise.resolve(route?.handle(call as unknown as Parameters<typeof route.handle>[0])).catch(
      (error) => error,
    );
  };

  test("not begun: none; past its time: 410; otherwise it must be on another host: 503", async () => {
    expect(await list({ ending: null, spawned: false }, 0)).toMatchObject({ count: 0, entries: [] });
    expect(await list({ ending: { at: 500 }, spawned: true }, 1499)).toMatchObject({
      code: "service_unavailable",
      status: 503,
    });
    expect(await list({ ending: { at: 500 }, spawned: true }, 1500)).toMatchObject({
      code: "workspace_expired",
      status: 410,
    });
    expect(await list({ ending: null, spawned: true }, 0)).toMatchObject({ status: 503 });
    mkdirSync(join(dataDir, "workspaces", run), { recursive: true });
    writeFileSync(join(dataDir, "workspaces", run, "f"), "");
    expect(await list({ ending: { at: 500 }, spawned: true }, 1499)).toMatchObject({ count: 1 });
    await until(() => existsSync(join(dataDir, "workspaces", run)));
  });
});

describe("volumes of a workflow's run", () => {
  const workspace = (volume_id: string): MountPlan => ({
    name: "workspace",
    volume_id,
    mount_path: "/workspace",
    storage_class: "ephemeral",
    access_mode: "read-write",
    size_limit_bytes: 1000,
    ttl_ms: 3600_000,
  });
  const parts = { read: ["/workspace/in"], write: ["/workspace/out"], read_only: false };

  async function shared(): Promise<(run: string, ...declared: VolumeSpec[]) => Promise<MountPlan[]>> {
    const volume = newId();
    await volumes.records.addOfRun("t", { id: volume, executionId: newId(), name: "w", sizeLimit: 1, ttlMs: 1 });
    return (executionId, ...declared) =>
      settleIn("t", { executionId, reader: null, declared, ofRun: [workspace(volume)] });
  }

  test("take the place of the workspace, and what the agent declares is beside them", async () => {
    const [run, settleShared] = [newId(), await shared()];
    const mounts = await settleShared(run, spec({}));
    expect(mounts.map(({ name, mount_path, shared: isShared }) => [name, mount_path, isShared ?? false])).toEqual([
      ["workspace", "/workspace", true],
      ["data", "/workspace/data", false],
    ]);
    expect(mounts[0]?.volume_id).not.toBe(run);
    // Erasing the execution leaves them to their run.
    await volumes.instanceMounts("t", runOf(run), { mounts, filesystem: free });
    await volumes.removeOfExecution(run);
    const held = mounts.map(({ volume_id }) => existsSync(join(dataDir, "workspaces", volume_id)));
    expect(held).toEqual([true, false]);
  });

  test("show alike in all executions that have them at once, or as a whole", async () => {
    const settleShared = await shared();
    const [one, other, judge] = [newId(), newId(), newId()];
    ended.set(one, null);
    const mounts = await settleShared(one);
    await volumes.instanceMounts("t", runOf(one), { mounts, filesystem: parts });
    const whole = { mounts: await settleShared(other), filesystem: free };
    await expect(volumes.instanceMounts("t", runOf(other), whole)).rejects.toMatchObject({ code: "volume_error" });
    // A judge sees them whole and cannot change them.
    await volumes.instanceMounts("t", runOf(judge), { mounts: judgeMounts(mounts), filesystem: free });
    ended.set(one, new Date());
    await volumes.instanceMounts("t", runOf(other), whole);
  });
});
