/** The index of the files in volumes: what it lists is what lies on the disk, after crashes too. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure, VolumeLayout } from "../../../../src/features/volumes/layout.ts";
import { localPlaces } from "../../../../src/features/volumes/places/local/local-places.ts";
import { openPlaces } from "../../../../src/features/volumes/places/open.ts";
import type { Entry, Places, VolumeAt } from "../../../../src/features/volumes/places/port.ts";
import { volumeRecords } from "../../../../src/features/volumes/records.ts";
import { indexing } from "../../../../src/features/volumes/runs/indexing.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";
import { sha256 } from "../fixture.ts";

const signal = new AbortController().signal;
let stores: TestStores;
let dataDir: string;
let layout: VolumeLayout;
let places: Places;
let volume: VolumeAt;
const busy = new Set<string>();
const settle = () => indexing(stores.sql, places, async (id) => !busy.has(id)).settleIndexes();

beforeAll(async () => {
  stores = await freshStores();
  dataDir = mkdtempSync(join(tmpdir(), "svc-places-"));
  layout = new VolumeLayout(dataDir);
  places = localPlaces(stores.sql, layout);
});
afterAll(async () => {
  await stores.dispose();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(async () => {
  busy.clear();
  const id = crypto.randomUUID();
  volume = { tenant: "t", volume_id: id };
  await stores.sql`
    insert into volumes (volume_id, root_id, indexed, tenant, kind, label, owner_user_id, size_limit_bytes)
    values (${id}, ${id}, true, 't', 'user', ${id}, 'u', 1000000000)`;
  await places.prepare(id);
});

const host = (path = ""): string => join(layout.volume(volume.volume_id), path);
const content = (text: string) => ({ sha256: sha256(text), mime_type: "text/plain" });

async function put(path: string, text: string): Promise<void> {
  const draft = await places.draft(volume);
  await draft.write(Buffer.from(text));
  await draft.finish();
  const arrival = { draft, size: Buffer.byteLength(text), content: content(text) };
  await places.change(volume, (change) => change.put(path, arrival)).finally(() => draft.discard());
}

async function state() {
  const [row] = await stores.sql<{ indexed: boolean; measured: boolean; used: number; files: number }[]>`
    select indexed, measured, used_bytes::double precision as used, file_count::double precision as files
    from volumes where volume_id = ${volume.volume_id}`;
  if (row === undefined) throw new Error("the volume is gone");
  return row;
}

const pageOf = (path: string, after: Entry | null, limit = 1000) =>
  places.list(
    volume,
    { path, limit, offset: 0, after: after === null ? null : { directory: after.directory, name: after.name } },
    signal,
  );

/** Everything that listings show, by path. */
async function listed(path = "/"): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await pageOf(path, null)) {
    found.push(`${entry.path}${entry.directory ? "/" : ` ${entry.size} ${entry.content?.sha256 ?? "?"}`}`);
    if (entry.directory) found.push(...(await listed(entry.path)));
  }
  return found.sort();
}

/** The same, read from the disk. */
function onDisk(path = "", digests = true): string[] {
  return readdirSync(host(path), { withFileTypes: true })
    .flatMap((entry) => {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory()) return [`${inner}/`, ...onDisk(inner, digests)];
      const bytes = readFileSync(host(inner));
      return [`${inner} ${bytes.length} ${digests ? sha256(bytes) : "?"}`];
    })
    .sort();
}

async function expectTrue(): Promise<void> {
  expect(await listed()).toEqual(onDisk());
  const { bytes, files } = await measure(host());
  expect(await state()).toEqual({ indexed: true, measured: true, used: bytes, files });
}

const noObjects = {
  s3Endpoint: null,
  s3Bucket: "",
  s3Region: "none",
  s3AccessKeyId: null,
  s3SecretAccessKey: null,
  s3Prefix: "",
  s3ForcePathStyle: false,
};

test("the probe writes, reads and deletes; a root that is a file cannot be used", async () => {
  await places.probe();
  expect(readdirSync(layout.volumes).filter((name) => name.startsWith(".probe"))).toEqual([]);
  const file = join(dataDir, "file");
  writeFileSync(file, "");
  const other = new VolumeLayout(dataDir, file);
  const opened = openPlaces({
    sql: stores.sql,
    layout: other,
    settings: { ...noObjects, storageBackend: "local" },
    host: "host",
    fits: async () => true,
    lost() {},
    warn() {},
  });
  expect(await opened.catch(String)).toContain(`SVC_STORAGE_ROOT ${file} cannot be used`);
});

describe("changes", () => {
  test("files put, moved and deleted in any order: the index is the disk", async () => {
    const names = ["a", "b", "é", "z-🜁", "￿", "A"];
    let seed = 7;
    const pick = <T>(all: readonly T[]): T => {
      seed = (seed * 48_271) % 2_147_483_647;
      return all[seed % all.length] as T;
    };
    const path = () => `/${Array.from({ length: pick([1, 2, 3]) }, () => pick(names)).join("/")}`;
    const outcomes = { done: 0, refused: 0 };
    for (let step = 0; step < 150; step++) {
      const [from, to] = [path(), path()];
      const work = pick([
        () => put(from, "x".repeat(step % 50)),
        () => put(from, `text ${step}`),
        () => places.change(volume, (change) => change.makeDirectory(from)),
        () => places.change(volume, (change) => change.move(from, to, true)),
        () => places.change(volume, (change) => change.move(from, to, false)),
        () => places.change(volume, (change) => change.remove(from)),
      ]);
      await work().then(
        () => (outcomes.done += 1),
        () => (outcomes.refused += 1),
      );
      // A refusal after the disk was touched leaves a doubt, and the next round ends it.
      if (!(await state()).indexed) await settle();
    }
    expect(outcomes.done).toBeGreaterThan(40);
    expect(outcomes.refused).toBeGreaterThan(20);
    await expectTrue();
  });

  test("a page goes on after any entry, in the order that the disk is listed in", async () => {
    for (const name of ["b", "a", "￿", "😀", "Z", "é"]) {
      await put(`/${name}`, "1");
      await places.change(volume, (change) => change.makeDirectory(`/d ${name}`));
    }
    const all = await pageOf("/", null);
    const order = (list: readonly Entry[]) => list.map(({ name }) => name);
    expect(order(all).slice(6)).toEqual(["Z", "a", "b", "é", "￿", "😀"]);
    for (const [at, entry] of all.entries()) {
      expect(order(await pageOf("/", entry, 2))).toEqual(order(all.slice(at + 1, at + 3)));
    }
    await stores.sql`update volumes set indexed = false where volume_id = ${volume.volume_id}`;
    expect(order(await pageOf("/", null))).toEqual(order(all));
    expect(order(await pageOf("/", all[8] ?? null))).toEqual(order(all.slice(9)));
  });

  test("a deleted directory leaves the listing at once, its rows and bytes bit by bit", async () => {
    mkdirSync(host("many/inner"), { recursive: true });
    for (let n = 0; n < 30; n++) writeFileSync(host(`many/${n}`), "1234");
    writeFileSync(host("many/inner/file"), "1234");
    await put("/kept", "12");
    await stores.sql`update volumes set measured = false where volume_id = ${volume.volume_id}`;
    await settle();
    expect(await state()).toMatchObject({ indexed: true, used: 126, files: 32 });
    // More than is taken away before the answer.
    await stores.sql`
      insert into volume_entries (volume_id, parent_id, is_file, name, entry_id, size, modified_us)
      select volume_id, entry_id, true, 'row ' || n, gen_random_uuid(), 1, 0
      from volume_entries, generate_series(1, 12000) n where volume_id = ${volume.volume_id} and name = 'many'`;
    await stores.sql`update volumes set used_bytes = used_bytes + 12000 where volume_id = ${volume.volume_id}`;
    await places.change(volume, (change) => change.remove("/many"));
    expect(await listed()).toEqual(onDisk());
    expect((await state()).used).toBeGreaterThan(2);
    await until(async () => (await state()).used === 2);
    expect(await state()).toMatchObject({ indexed: true });
    const [left] = await stores.sql<{ count: number }[]>`
      select count(*)::int as count from volume_entries where volume_id = ${volume.volume_id}`;
    expect(left?.count).toBe(1);
    await until(() => readdirSync(layout.trash).length === 0);
  });
});

describe("doubt", () => {
  test("an execution writes: the disk is listed, and the index once it ended", async () => {
    await put("/same", "known");
    await stores.sql`update volumes set measured = false where volume_id = ${volume.volume_id}`;
    busy.add(volume.volume_id);
    mkdirSync(host("made/deep"), { recursive: true });
    writeFileSync(host("made/deep/by-agent"), "unread");
    await settle();
    expect(await state()).toMatchObject({ indexed: false });
    expect(await listed()).toContain("/made/deep/by-agent 6 ?");
    busy.clear();
    await stores.sql`update volumes set index_due_at = now() where volume_id = ${volume.volume_id}`;
    await settle();
    expect(await state()).toEqual({ indexed: true, measured: true, used: 11, files: 2 });
    // A digest that was known is known still.
    expect(await listed()).toContain(`/same 5 ${sha256("known")}`);
    const file = await places.open(volume, "/made/deep/by-agent", null);
    file.close();
    expect(file.content.sha256).toBe(sha256("unread"));
    await expectTrue();
  });

  test("an index that was made while the volume changed is thrown away", async () => {
    writeFileSync(host("first"), "1");
    await stores.sql`update volumes set measured = false where volume_id = ${volume.volume_id}`;
    const made = await places.writeBack(volume.volume_id, async () => {
      await put("/second", "22");
      return true;
    });
    expect(made).toBe(false);
    expect(await state()).toMatchObject({ indexed: false });
    expect(await places.writeBack(volume.volume_id, async () => true)).toBe(true);
    expect(await state()).toEqual({ indexed: true, measured: true, used: 3, files: 2 });
  });

  test("a change that was cut off after its rename is found by its mark", async () => {
    await put("/before", "12");
    // What a crash between the rename and the commit leaves.
    writeFileSync(host("cut-off"), "1234");
    await stores.sql`
      insert into volume_changes (change_id, volume_id, created_at)
      values (${crypto.randomUUID()}, ${volume.volume_id}, now() - interval '11 seconds')`;
    expect(await listed()).not.toContain(`/cut-off 4 ?`);
    await settle();
    expect(await state()).toEqual({ indexed: true, measured: true, used: 6, files: 2 });
    expect(await listed()).toContain("/cut-off 4 ?");
  });

  test("a change that waits long for its turn is not taken for one that was cut off", async () => {
    const turn = Promise.withResolvers<void>();
    const other = stores.sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(hashtextextended('volumes t', 0))`;
      await turn.promise;
    });
    const begunAt = (when: string) =>
      stores.sql.unsafe(`alter table volume_changes alter column created_at set default ${when}`);
    await begunAt("now() - interval '1 minute'");
    const waiting = put("/late", "1234");
    await until(async () => {
      const free = "select from volume_changes where change_id in (select change_id from volume_changes)";
      const [all, unheld] = await Promise.all([
        stores.sql.unsafe(free),
        stores.sql.unsafe(`${free} for update skip locked`),
      ]);
      return all.count === 1 && unheld.count === 0;
    });
    await settle();
    expect(await state()).toMatchObject({ indexed: true });
    turn.resolve();
    await Promise.all([other, waiting, begunAt("now()")]);
    await expectTrue();
  });

  test("figures that were measured while a file came are not noted", async () => {
    const records = volumeRecords(stores.sql, "local");
    const { volume_id } = volume;
    const since = await records.changesOf(volume_id);
    await put("/came", "1234");
    expect(await records.noteUsage(volume_id, 0, 0, since)).toBe(false);
    await expectTrue();
    expect(await records.noteUsage(volume_id, 4, 1, await records.changesOf(volume_id))).toBe(true);
  });

  test("a change that fails after its rename leaves a doubt, one before it none", async () => {
    const early = places.change(volume, () => Promise.reject(new Error("no")));
    expect(early).rejects.toThrow("no");
    await early.catch(() => {});
    expect(await state()).toMatchObject({ indexed: true, measured: true });
    const late = places.change(volume, async (change) => {
      await change.makeDirectory("/made");
      throw new Error("late");
    });
    await late.catch(() => {});
    expect(existsSync(host("made"))).toBe(true);
    expect(await state()).toMatchObject({ indexed: false, measured: false });
    expect(await listed()).toEqual(["/made/"]);
    await settle();
    await expectTrue();
  });

  test("a volume from before the index is indexed, with the digests that were known", async () => {
    writeFileSync(host("old"), "old text");
    const { mtimeMs } = await Bun.file(host("old")).stat();
    await stores.sql`
      update volumes set root_id = null, indexed = false where volume_id = ${volume.volume_id}`;
    await stores.sql`
      insert into volume_files (volume_id, path, size, modified_us, sha256, mime_type)
      values (${volume.volume_id}, '/old', 8, ${Math.round(mtimeMs * 1000)}, ${sha256("old text")}, 'text/plain')`;
    expect(await listed()).toEqual(["/old 8 ?"]);
    await settle();
    await expectTrue();
    // So does a version without the index tell what it uploaded.
    await stores.sql`update volume_files set size = 9 where volume_id = ${volume.volume_id}`;
    expect(await state()).toMatchObject({ indexed: false });
  });
});
