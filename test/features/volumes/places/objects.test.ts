/** Volumes whose bytes are objects of a store, and their copies on hosts (docs/reference/volumes.md). */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openObjects } from "../../../../src/adapters/objects/port.ts";
import { VolumeLayout } from "../../../../src/features/volumes/layout.ts";
import type { VolumeAt } from "../../../../src/features/volumes/places/port.ts";
import { type ObjectPlaces, objectPlaces } from "../../../../src/features/volumes/places/s3/places.ts";
import { volumeRecords } from "../../../../src/features/volumes/records.ts";
import { type S3Store, startS3 } from "../../../harness/outside/s3.ts";
import { scratch } from "../../../harness/scratch.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";

let stores: TestStores;
let s3: S3Store;
let places: ObjectPlaces;
const lost: string[] = [];
let hasRoom = true;

beforeAll(async () => {
  [stores, s3] = await Promise.all([freshStores(), startS3()]);
  places = placesOf("host-0");
});
afterAll(async () => {
  await stores.dispose();
  await s3.stop();
});
afterEach(() => {
  s3.failing(null);
  hasRoom = true;
});

function placesOf(
  host: string,
  layout = new VolumeLayout(scratch(host)),
  answerMs = 10_000,
  maxEntries?: number,
): ObjectPlaces {
  return objectPlaces({
    sql: stores.sql,
    objects: openObjects(s3.settings, { answerMs }),
    layout,
    host,
    maxEntries,
    fits: async () => hasRoom,
    lost: ({ execution_id }, reason) => void lost.push(`${reason} ${execution_id}`),
  });
}

const bytes = (text: string) => new TextEncoder().encode(text);
const never = new AbortController().signal;
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => null).catch((error) => error);
const page = { limit: 100, offset: 0, after: null };

async function newVolume(): Promise<VolumeAt> {
  const volume = { tenant: "acme", volume_id: Bun.randomUUIDv7() };
  await stores.sql`
    insert into volumes (volume_id, tenant, kind, label, size_limit_bytes, backend)
    values (${volume.volume_id}, 'acme', 'user', ${volume.volume_id}, 1000000000, 's3')`;
  return volume;
}

async function put(volume: VolumeAt, path: string, text: string): Promise<void> {
  const draft = await places.draft(volume);
  await draft.write(bytes(text));
  await draft.finish();
  const content = { sha256: createHash("sha256").update(text).digest("hex"), mime_type: "text/plain" };
  const arrival = { draft, size: bytes(text).length, content };
  await places.change(volume, (change) => change.put(path, arrival)).finally(() => draft.discard());
}

async function textOf(volume: VolumeAt, path: string): Promise<string> {
  const file = await places.open(volume, path, null);
  return (await file.body(null)).text();
}

async function everything(volume: VolumeAt, path = "/"): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  for (const entry of await places.list(volume, { ...page, path }, never)) {
    found[entry.path] = entry.directory ? null : await textOf(volume, entry.path);
    if (entry.directory) Object.assign(found, await everything(volume, entry.path));
  }
  return found;
}

async function figuresOf({ volume_id }: VolumeAt): Promise<readonly number[]> {
  const [row] = await stores.sql<{ bytes: number; files: number }[]>`
    select used_bytes::int as bytes, file_count::int as files from volumes where volume_id = ${volume_id}`;
  return [row?.bytes ?? -1, row?.files ?? -1];
}

const keysOf = async ({ volume_id }: VolumeAt) => (await s3.keys()).filter((key) => key.includes(volume_id));
/** What was detached may be erased at once. */
const passGrace = () => stores.sql`update volume_detached set detached_at = now() - interval '1 hour'`;

test("the probe writes, reads and deletes", async () => {
  await places.probe();
  expect(s3.asked.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE", "HEAD"]);
  expect(await s3.keys()).toEqual([]);
});

test("files are put, replaced, moved, listed and removed by rows, and objects follow", async () => {
  const volume = await newVolume();
  expect(await places.list(volume, { ...page, path: "/" }, never)).toEqual([]);
  await put(volume, "/a/b/one.txt", "one");
  await put(volume, "/a/two.txt", "two!");
  await put(volume, "/a/two.txt", "second");
  expect(await figuresOf(volume)).toEqual([9, 2]);
  const keys = await keysOf(volume);
  expect(keys.every((key) => key.startsWith(`svc/acme/${volume.volume_id}/`) && !key.includes("txt"))).toBe(true);
  await places.change(volume, (change) => change.move("/a", "/c/d", false));
  expect(await everything(volume)).toEqual({
    "/c": null,
    "/c/d": null,
    "/c/d/b": null,
    "/c/d/b/one.txt": "one",
    "/c/d/two.txt": "second",
  });
  expect((await places.look(volume, "/c/d/two.txt")).content?.sha256).toHaveLength(64);
  const part = await (await places.open(volume, "/c/d/two.txt", null)).body({ start: 1, end: 4 });
  expect(await part.text()).toBe("eco");
  const taken = places.change(volume, (change) => change.move("/c/d/b", "/c/d/two.txt", true));
  expect(await failureOf(taken)).toMatchObject({ code: "destination_exists" });
  expect(await failureOf(put(volume, "/c/d", "no"))).toMatchObject({ code: "is_a_directory" });
  expect(await failureOf(places.look(volume, "/a"))).toMatchObject({ code: "not_found" });
  await places.change(volume, (change) => change.move("/c/d/b/one.txt", "/c/d/two.txt", true));
  expect(await figuresOf(volume)).toEqual([3, 1]);
  await places.tidy(Date.now());
  // What was found a moment ago is still read.
  expect((await keysOf(volume)).length).toBe(3);
  await passGrace();
  await places.tidy(Date.now());
  expect((await keysOf(volume)).length).toBe(1);
  await places.change(volume, (change) => change.remove("/c"));
  expect(await everything(volume)).toEqual({});
  expect(await figuresOf(volume)).toEqual([0, 0]);
  await passGrace();
  await places.tidy(Date.now());
  expect(await keysOf(volume)).toEqual([]);
});

test("large files come whole and by parts, of a known length", async () => {
  const volume = await newVolume();
  const text = "0123456789".repeat(300_000);
  await put(volume, "/large", text);
  const whole = await (await places.open(volume, "/large", null)).body(null);
  expect(whole.size).toBe(text.length);
  expect(await whole.text()).toBe(text);
  const part = await (await places.open(volume, "/large", null)).body({ start: 5, end: 2_000_005 });
  expect(part.size).toBe(2_000_000);
  expect(await part.text()).toBe(text.slice(5, 2_000_005));
});

test("an upload that fails shows nothing, and what crashed is erased", async () => {
  const volume = await newVolume();
  s3.failing(({ method }) => (method === "PUT" ? 500 : null));
  const failed = await places.draft(volume);
  await failed.write(bytes("x"));
  expect(await failureOf(failed.finish())).toMatchObject({ code: "service_unavailable" });
  s3.failing(null);
  await failed.discard();
  const unanswered = await placesOf("host-x", undefined, 500).draft(volume);
  s3.failing(() => "hang");
  expect(await failureOf(unanswered.finish())).toMatchObject({ code: "service_unavailable" });
  const asked = s3.asked.length;
  await unanswered.discard();
  expect(s3.asked.length).toBe(asked);
  s3.failing(null);
  await places.tidy(Date.now());
  expect((await stores.sql`select from volume_drafts`).count).toBe(0);
  const crashed = await places.draft(volume);
  await crashed.write(new Uint8Array(20 * 1024 * 1024));
  const whole = await places.draft(volume);
  await whole.finish();
  expect((await keysOf(volume)).length).toBe(1);
  expect(s3.openUploads.size).toBe(1);
  await places.tidy(Date.now());
  expect(s3.openUploads.size).toBe(1);
  await stores.sql`update volume_drafts set created_at = now() - interval '2 days'`;
  await places.tidy(Date.now());
  expect(s3.openUploads.size).toBe(0);
  expect(await keysOf(volume)).toEqual([]);
  const content = { sha256: "0".repeat(64), mime_type: "text/plain" };
  const late = places.change(volume, (change) => change.put("/late", { draft: whole, size: 0, content }));
  expect(await failureOf(late)).toMatchObject({ code: "service_unavailable" });
  expect(await everything(volume)).toEqual({});
});

test("a deleted volume loses its rows and its objects at once", async () => {
  const volume = await newVolume();
  for (let index = 0; index < 5; index++) await put(volume, `/d${index}/file`, "text");
  await stores.sql`update volumes set deleted_at = now() where volume_id = ${volume.volume_id}`;
  expect(await places.held()).toEqual([volume.volume_id]);
  s3.failing(({ path }) => (path.includes("?delete") ? 403 : null));
  expect(await failureOf(places.erase(volume.volume_id))).toMatchObject({ code: "service_unavailable" });
  s3.failing(null);
  expect(await places.held()).toEqual([volume.volume_id]);
  expect(await places.erase(volume.volume_id)).toBe(true);
  expect(await keysOf(volume)).toEqual([]);
  expect(await places.held()).toEqual([]);
});

test("what a copy measures changes no figures, and settles nothing of what goes", async () => {
  const volume = await newVolume();
  await put(volume, "/a", "1234");
  await stores.sql`
    insert into volume_detached (entry_id, volume_id, is_file, counted)
    values (${crypto.randomUUID()}, ${volume.volume_id}, false, true)`;
  const records = volumeRecords(stores.sql, "s3");
  expect(await records.noteUsage(volume.volume_id, 99, 9, null)).toBe(false);
  expect(await records.noteUsage(volume.volume_id, 99, 9, await records.changesOf(volume.volume_id))).toBe(false);
  expect(await figuresOf(volume)).toEqual([4, 1]);
  const left = await stores.sql`select from volume_detached where volume_id = ${volume.volume_id} and counted`;
  expect(left.count).toBe(1);
});

/** A host with a copy of its own. */
function hostOf(name: string, maxEntries?: number) {
  const layout = new VolumeLayout(scratch(name));
  const { staging, arrive, land } = placesOf(name, layout, 10_000, maxEntries);
  return {
    tidy: staging.tidy,
    land: (instanceId: string) => land(instanceId, null),
    stage: (volume: VolumeAt, instanceId: string, writes: boolean) =>
      arrive(volume, { executionId: instanceId, instanceId, writes }, null),
    at: ({ volume_id }: VolumeAt, path: string) => join(layout.volume(volume_id), path),
    write(volume: VolumeAt, path: string, text: string): void {
      const at = join(layout.volume(volume.volume_id), path);
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, text);
    },
  };
}

test("a copy brings what is stored, and takes back what an execution changed", async () => {
  const volume = await newVolume();
  const host = hostOf("host-1");
  await put(volume, "/kept.txt", "kept");
  await put(volume, "/changed.txt", "old");
  await put(volume, "/gone/inner.txt", "inner");
  const execution = crypto.randomUUID();
  await host.stage(volume, execution, true);
  expect(readFileSync(host.at(volume, "gone/inner.txt"), "utf8")).toBe("inner");
  host.write(volume, "changed.txt", "new");
  host.write(volume, "fresh/a b.txt", "fresh");
  mkdirSync(host.at(volume, "empty"));
  rmSync(host.at(volume, "gone"), { recursive: true });
  s3.asked.length = 0;
  expect(await host.land(execution)).toBe("written");
  expect(s3.asked.filter(({ method }) => method === "PUT").length).toBe(2);
  const wanted = {
    "/empty": null,
    "/fresh": null,
    "/changed.txt": "new",
    "/fresh/a b.txt": "fresh",
    "/kept.txt": "kept",
  };
  expect(await everything(volume)).toEqual(wanted);
  expect(await figuresOf(volume)).toEqual([12, 3]);
  // Once more: there is nothing to be done, and nothing is fetched that did not change.
  s3.asked.length = 0;
  expect(await host.land(execution)).toBe("written");
  await put(volume, "/kept.txt", "kept?");
  await host.stage(volume, crypto.randomUUID(), false);
  expect(s3.asked.filter(({ method }) => method === "GET").length).toBe(1);
  expect(readFileSync(host.at(volume, "kept.txt"), "utf8")).toBe("kept?");
});

test("of two hosts the last writer of a file wins, and a removal takes no newer file", async () => {
  const volume = await newVolume();
  const [one, two] = [hostOf("host-a"), hostOf("host-b")];
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  await put(volume, "/both.txt", "base");
  await put(volume, "/removed.txt", "base");
  await one.stage(volume, first, true);
  await two.stage(volume, second, true);
  one.write(volume, "both.txt", "from one");
  one.write(volume, "only-one.txt", "1");
  one.write(volume, "removed.txt", "newer");
  two.write(volume, "both.txt", "from two");
  rmSync(two.at(volume, "removed.txt"));
  expect(await one.land(first)).toBe("written");
  expect(await two.land(second)).toBe("written");
  expect(await everything(volume)).toEqual({ "/both.txt": "from two", "/only-one.txt": "1", "/removed.txt": "newer" });
});

test("what a crash left is written back by its host, but over nothing newer", async () => {
  const volume = await newVolume();
  const host = hostOf("host-c");
  const execution = crypto.randomUUID();
  await put(volume, "/old.txt", "base");
  await host.stage(volume, execution, true);
  host.write(volume, "old.txt", "of the crashed");
  host.write(volume, "new.txt", "new");
  await put(volume, "/old.txt", "newer");
  // Another execution on the host begins before that: what is not written back yet stays.
  await host.stage(volume, crypto.randomUUID(), false);
  expect(readFileSync(host.at(volume, "new.txt"), "utf8")).toBe("new");
  s3.failing(({ method }) => (method === "PUT" ? 503 : null));
  await stores.sql`update volume_stagings set created_at = now() - interval '5 minutes'`;
  expect(await failureOf(host.tidy(async () => new Set()))).toMatchObject({ code: "service_unavailable" });
  s3.failing(null);
  expect(await everything(volume)).toEqual({ "/old.txt": "newer" });
  await host.tidy(async () => new Set([execution]));
  expect(await everything(volume)).toEqual({ "/old.txt": "newer" });
  await host.tidy(async () => new Set());
  expect(await everything(volume)).toEqual({ "/new.txt": "new", "/old.txt": "newer" });
});

test("a file that was put where a copy has a directory stays", async () => {
  const volume = await newVolume();
  const host = hostOf("host-h");
  const execution = crypto.randomUUID();
  await host.stage(volume, execution, true);
  host.write(volume, "x/inner/file", "of the copy");
  host.write(volume, "y", "y");
  await put(volume, "/x", "put");
  expect(await host.land(execution)).toBe("written");
  expect(await everything(volume)).toEqual({ "/x": "put", "/y": "y" });
  await host.stage(volume, execution, true);
  expect(readFileSync(host.at(volume, "x"), "utf8")).toBe("put");
});

test("what cannot be written back keeps nothing else from it", async () => {
  const [ill, well] = [await newVolume(), await newVolume()];
  const host = hostOf("host-i");
  for (const volume of [ill, well]) {
    await host.stage(volume, crypto.randomUUID(), true);
    host.write(volume, "a", "a");
    await stores.sql`
      update volume_stagings set created_at = now() - interval '5 minutes' where volume_id = ${volume.volume_id}`;
  }
  s3.failing(({ path }) => (path.includes(ill.volume_id) ? 403 : null));
  expect(await failureOf(host.tidy(async () => new Set()))).toMatchObject({ code: "service_unavailable" });
  expect(await everything(well)).toEqual({ "/a": "a" });
});

test("a copy with too many files is given up, and the next one is as stored", async () => {
  const volume = await newVolume();
  const host = hostOf("host-j", 3);
  const execution = crypto.randomUUID();
  await put(volume, "/a", "a");
  await host.stage(volume, execution, true);
  for (const name of ["b", "c", "d"]) host.write(volume, name, name);
  lost.length = 0;
  expect(await failureOf(host.land(execution))).toMatchObject({ code: "volume_error" });
  expect(lost).toEqual([`too_many_files ${execution}`]);
  expect(await host.land(execution)).toBe("written");
  await host.stage(volume, execution, true);
  expect(readdirSync(host.at(volume, "."))).toEqual(["a"]);
});

test("what moves made too deep for any path is left out of a copy", async () => {
  const volume = await newVolume();
  const host = hostOf("host-k");
  const deep = "/d".repeat(100);
  await places.change(volume, (change) => change.makeDirectory(deep));
  await put(volume, "/a", "a");
  await places.change(volume, (change) => change.move("/d", `/e${"/f".repeat(100)}`, false));
  const execution = crypto.randomUUID();
  await host.stage(volume, execution, true);
  expect(readFileSync(host.at(volume, "a"), "utf8")).toBe("a");
  expect(await host.land(execution)).toBe("written");
  const [row] = await stores.sql`
    select count(*)::int as count from volume_entries where volume_id = ${volume.volume_id}`;
  expect(row).toEqual({ count: 201 });
});

test("without room nothing is written back, and the next copy is as stored", async () => {
  const volume = await newVolume();
  const host = hostOf("host-d");
  const execution = crypto.randomUUID();
  await put(volume, "/a.txt", "a");
  await host.stage(volume, execution, true);
  host.write(volume, "a.txt", "too much");
  lost.length = 0;
  host.write(volume, "b.txt", "b");
  hasRoom = false;
  expect(await host.land(execution)).toBe("no_room");
  expect(lost).toEqual([`no_room ${execution}`]);
  expect(await everything(volume)).toEqual({ "/a.txt": "a" });
  await host.stage(volume, execution, true);
  expect(readFileSync(host.at(volume, "a.txt"), "utf8")).toBe("a");
  expect(existsSync(host.at(volume, "b.txt"))).toBe(false);
});

test("of a host that is gone it is told, and unused copies go", async () => {
  const volume = await newVolume();
  const [gone, host] = [hostOf("host-e"), hostOf("host-f")];
  const execution = crypto.randomUUID();
  await put(volume, "/a.txt", "a");
  await gone.stage(volume, execution, true);
  await host.stage(volume, execution, false);
  await stores.sql`update volume_stagings set created_at = now() - interval '2 hours'`;
  await stores.sql`update volume_copies set used_at = now() - interval '2 hours'`;
  lost.length = 0;
  await host.tidy(async () => new Set());
  expect(lost).toContain(`host_gone ${execution}`);
  expect(existsSync(host.at(volume, "a.txt"))).toBe(false);
  expect(existsSync(gone.at(volume, "a.txt"))).toBe(true);
  expect(await everything(volume)).toEqual({ "/a.txt": "a" });
});
