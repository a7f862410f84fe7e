/**
 * Files of volumes: how fast a large one arrives and leaves, in how much memory, and what a directory of a million costs
 * beside one of a thousand. Takes long, so it runs only when asked for by name:
 * `bun run bench volumes [--bytes=5368709120] [--objects=268435456] [--files=1000000]`.
 */
import { mkdir, open, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { type BenchService, residentMiB, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import { percentile, type Row } from "./table.ts";

const small = 1_000;
const samples = 200;

export async function benchVolumes(stores: BenchStores): Promise<Row[]> {
  const objects = argument("objects", 256 * 1024 ** 2);
  const inObjects = objects === 0 ? [] : await toObjects(stores, objects);
  const service = await startBenchService(stores, "volumes");
  const folder = join(stores.dataDir, "volume-bench");
  await mkdir(folder, { recursive: true });
  try {
    const bytes = argument("bytes", 5 * 1024 ** 3);
    const files = argument("files", 1_000_000);
    return [
      ...inObjects,
      ...(bytes === 0 ? [] : await throughput(service, folder, bytes)),
      ...(files === 0 ? [] : await directories(service, stores, files)),
    ];
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function argument(name: string, usual: number): number {
  const given = process.argv.find((word) => word.startsWith(`--${name}=`));
  return given === undefined ? usual : Number(given.slice(name.length + 3));
}

interface Measured {
  readonly mbPerSecond: number;
  readonly grownMiB: number;
  /** p99 of a request that only looks, sent all the while. */
  readonly otherMs: number;
}

async function throughput(service: BenchService, folder: string, bytes: number): Promise<Row[]> {
  const source = join(folder, "source");
  await writeFile(source, "");
  await truncate(source, bytes);
  const form = join(folder, "form");
  await makeForm(form, bytes);
  const { child: bare, port } = await spawned("floors/bare-files.ts", join(folder, "bare"));
  try {
    const floorUrl = `http://127.0.0.1:${port}/`;
    const id = await volume(service, "large");
    const files = `${service.url}/v1/volumes/${id}/files`;
    const authorization = { Authorization: `Bearer ${service.token}` };
    const rows: Row[] = [];
    const cases = [
      { name: "upload, raw", url: `${files}/upload?path=/raw`, file: source, headers: {} },
      {
        name: "upload, multipart",
        url: `${files}/upload?path=/form`,
        file: form,
        headers: { "Content-Type": "multipart/form-data; boundary=bench" },
      },
    ];
    for (const { name, url, file, headers } of cases) {
      const floor = await measured(bare.pid, `${floorUrl}health`, () => send(floorUrl, file, {}), bytes);
      const found = await measured(
        service.pid,
        `${service.url}/health`,
        () => send(url, file, { ...authorization, ...headers }),
        bytes,
      );
      rows.push(...rowsOf(name, found, floor, bytes));
    }
    const floor = await measured(bare.pid, `${floorUrl}health`, () => take(floorUrl, {}), bytes);
    const found = await measured(
      service.pid,
      `${service.url}/health`,
      () => take(`${files}/download?path=/raw`, authorization),
      bytes,
    );
    rows.push(...rowsOf("download", found, floor, bytes));
    await fetch(`${service.url}/v1/volumes/${id}`, { method: "DELETE", headers: authorization });
    return rows;
  } finally {
    bare.kill();
  }
}

/** A program that says at which port it listens. */
async function spawned(program: string, path: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, program), path], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const { port } = JSON.parse(new TextDecoder().decode(value)) as { port: number };
  return { child, port };
}

/** An upload whose file becomes an object, beside Bun's own client that sends the same bytes to the same server. */
async function toObjects(stores: BenchStores, bytes: number): Promise<Row[]> {
  const folder = join(stores.dataDir, "object-bench");
  await mkdir(folder, { recursive: true });
  const source = join(folder, "source");
  await writeFile(source, "");
  await truncate(source, bytes);
  const { child, port } = await spawned("floors/object-server.ts", join(folder, "store"));
  const endpoint = `http://127.0.0.1:${port}`;
  const key = "S3RVER";
  process.once("exit", () => child.kill());
  const service = await startBenchService(stores, "objects", [], {
    SVC_STORAGE_BACKEND: "s3",
    SVC_S3_ENDPOINT: endpoint,
    SVC_S3_BUCKET: "files",
    SVC_S3_ACCESS_KEY_ID: key,
    SVC_S3_SECRET_ACCESS_KEY: key,
  });
  try {
    const bare = new Bun.S3Client({ endpoint, bucket: "files", accessKeyId: key, secretAccessKey: key });
    const bareUpload = async () => {
      const writer = bare.file("bare").writer({ partSize: 8 * 1024 * 1024, queueSize: 3 });
      for await (const piece of Bun.file(source).stream()) {
        writer.write(piece);
        await writer.flush();
      }
      await writer.end();
    };
    const id = await volume(service, "objects");
    const upload = `${service.url}/v1/volumes/${id}/files/upload?path=/raw`;
    const authorization = { Authorization: `Bearer ${service.token}` };
    const health = `${service.url}/health`;
    const floor = await measured(process.pid, health, bareUpload, bytes);
    const found = await measured(service.pid, health, () => send(upload, source, authorization), bytes);
    return rowsOf("upload to objects", found, floor, bytes, {
      floorIs: "Bun.S3Client, the same parts to the same server",
      goal: "",
      memory: "",
    });
  } finally {
    await service.stop();
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

const bareFiles = { floorIs: "bare Bun server: body to a file, hashed", goal: "500", memory: "<= 32" };

function rowsOf(
  name: string,
  found: Measured,
  floor: Measured,
  bytes: number,
  { floorIs, goal, memory } = bareFiles,
): Row[] {
  const note = `${(bytes / 1024 ** 3).toFixed(2)} GiB on loopback, client on the same cores`;
  return [
    { name, unit: "MB/s", value: found.mbPerSecond, floor: floor.mbPerSecond, floorIs, goal, note },
    {
      name: `${name}: memory`,
      unit: "MiB",
      value: found.grownMiB,
      floor: floor.grownMiB,
      floorIs,
      goal: memory,
      note,
    },
    { name: `${name}: others`, unit: "ms", value: found.otherMs, floor: floor.otherMs, floorIs, goal: "", note },
  ];
}

/** A multipart body around as many bytes, as a file. */
async function makeForm(path: string, bytes: number): Promise<void> {
  const head = `--bench\r\nContent-Disposition: form-data; name="file"; filename="large"\r\n\r\n`;
  const file = await open(path, "w");
  await file.write(head, 0);
  await file.write("\r\n--bench--\r\n", head.length + bytes);
  await file.close();
}

async function send(url: string, file: string, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(url, { method: "POST", headers, body: Bun.file(file) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  await answer.text();
}

async function take(url: string, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(url, { headers });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  for await (const _ of answer.body ?? []);
}

async function measured(pid: number, other: string, work: () => Promise<void>, bytes: number): Promise<Measured> {
  const before = await residentMiB(pid);
  let most = before;
  let isDone = false;
  const waits: number[] = [];
  const watching = (async () => {
    while (!isDone) {
      most = Math.max(most, await residentMiB(pid));
      const began = performance.now();
      await (await fetch(other)).text();
      waits.push(performance.now() - began);
      await Bun.sleep(20);
    }
  })();
  const began = performance.now();
  await work();
  const took = performance.now() - began;
  isDone = true;
  await watching;
  return { mbPerSecond: bytes / 1e6 / (took / 1000), grownMiB: most - before, otherMs: percentile(waits, 0.99) };
}

async function directories(service: BenchService, stores: BenchStores, many: number): Promise<Row[]> {
  const few = await filled(service, stores, small);
  const lots = await filled(service, stores, many);
  const rows: Row[] = [];
  const add = async (
    name: string,
    goal: string,
    work: (id: string, sample: number) => Promise<void>,
    count = samples,
  ) => {
    const took: { few: number[]; lots: number[] } = { few: [], lots: [] };
    for (let sample = -5; sample < count; sample++) {
      for (const [key, id] of [
        ["few", few],
        ["lots", lots],
      ] as const) {
        const began = performance.now();
        await work(id, sample);
        if (sample >= 0) took[key].push(performance.now() - began);
      }
    }
    rows.push({
      name,
      unit: "ms",
      value: percentile(took.lots, 0.99),
      floor: percentile(took.few, 0.99),
      floorIs: `a directory of ${small.toLocaleString("en-US")}`,
      goal,
      note: `p99 of ${count}, a directory of ${many.toLocaleString("en-US")}`,
    });
  };
  const call = async (method: string, path: string, body?: string): Promise<string> => {
    const answer = await fetch(`${service.url}/v1/volumes/${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${service.token}`,
        ...(method === "POST" ? { "Content-Type": "text/plain" } : {}),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  };
  const cursors = new Map<string, string>();
  await add("list: a page", "<= 2x", async (id) => {
    const cursor = cursors.get(id);
    const page = JSON.parse(
      await call("GET", `${id}/files?path=/d&limit=50${cursor === undefined ? "" : `&cursor=${cursor}`}`),
    ) as { next_cursor: string | null };
    if (page.next_cursor === null) cursors.delete(id);
    else cursors.set(id, encodeURIComponent(page.next_cursor));
  });
  await add(
    "upload into it",
    "<= 2x",
    async (id, n) => void (await call("POST", `${id}/files/upload?path=/d/new-${n}`, "x")),
  );
  await add("delete from it", "<= 2x", async (id, n) => void (await call("DELETE", `${id}/files?path=/d/new-${n}`)));
  await add(
    "move it",
    "<= 2x",
    async (id, n) => {
      const [from, to] = n % 2 === 0 ? ["/moved", "/d"] : ["/d", "/moved"];
      const answer = await service.post(`/v1/volumes/${id}/files/move`, { from, to });
      if (!answer.ok) throw new Error(await answer.text());
    },
    samples - 1,
  );
  const began = performance.now();
  await call("DELETE", `${few}/files?path=/d`);
  const floor = performance.now() - began;
  const then = performance.now();
  await call("DELETE", `${lots}/files?path=/d`);
  rows.push({
    name: "delete all of it",
    unit: "ms",
    value: performance.now() - then,
    floor,
    floorIs: `a directory of ${small.toLocaleString("en-US")}`,
    goal: "",
    note: "the request; what lay in it is taken away behind it",
  });
  return rows;
}

async function volume(service: BenchService, label: string): Promise<string> {
  const answer = await service.post("/v1/volumes", { label: `${label} ${crypto.randomUUID()}` });
  if (!answer.ok) throw new Error(await answer.text());
  return ((await answer.json()) as { id: string }).id;
}

/** A volume with a directory `/d` of so many files, put there as an execution would, and indexed by the service. */
async function filled(service: BenchService, stores: BenchStores, count: number): Promise<string> {
  const id = await volume(service, `of ${count}`);
  const root = join(stores.dataDir, "volumes", "volumes", id);
  await mkdir(join(root, "d"), { recursive: true });
  for (let made = 0; made < count; made += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, count - made) }, (_, n) => writeFile(join(root, "d", `file-${made + n}`), "")),
    );
  }
  const sql = openPostgres({ url: stores.databaseUrl, schema: "volumes", poolSize: 1 });
  try {
    await sql`update volumes set measured = false where volume_id = ${id}`;
    const began = performance.now();
    const isIndexed = async () => (await sql`select from volumes where volume_id = ${id} and indexed`).length > 0;
    while (!(await isIndexed())) await Bun.sleep(200);
    console.error(`${count} files indexed in ${Math.round((performance.now() - began) / 1000)} s`);
    await sql`vacuum analyze volume_entries`;
    return id;
  } finally {
    await sql.end({ timeout: 2 });
  }
}
