/** The store of objects, against a server that speaks S3's protocol (docs/reference/volumes.md). */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type ObjectStore, ObjectsUnavailable, openObjects } from "../../../src/adapters/objects/port.ts";
import { type S3Store, startS3 } from "../../harness/outside/s3.ts";

let s3: S3Store;
let objects: ObjectStore;

beforeAll(async () => {
  s3 = await startS3();
  objects = openObjects(s3.settings);
});
afterAll(() => s3.stop());
afterEach(() => s3.failing(null));

const mebibyte = 1024 * 1024;
const piece = (value: number) => new Uint8Array(mebibyte).fill(value);

async function put(key: string, pieces: readonly Uint8Array[]): Promise<void> {
  const upload = objects.upload({ key });
  for (const one of pieces) await upload.write(one);
  await upload.finish();
}

async function bytesOf(key: string, start: number, end: number): Promise<Buffer | null> {
  const source = await objects.read(key, { start, end });
  if (source === null) return null;
  const pieces: Uint8Array[] = [];
  for await (const one of source) pieces.push(one);
  return Buffer.concat(pieces);
}

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => null).catch((error) => error);

test("small objects and large ones in parts are read as they were written", async () => {
  await put("t/a", [new TextEncoder().encode("hello")]);
  expect((await bytesOf("t/a", 1, 4))?.toString()).toBe("ell");
  await put("t/empty", []);
  expect(await bytesOf("t/empty", 0, 0)).toHaveLength(0);
  const pieces = Array.from({ length: 21 }, (_, index) => piece(index));
  await put("t/large", pieces);
  const whole = createHash("sha256").update(Buffer.concat(pieces)).digest("hex");
  const read = await bytesOf("t/large", 0, 21 * mebibyte);
  expect(
    createHash("sha256")
      .update(read ?? "")
      .digest("hex"),
  ).toBe(whole);
  expect(await bytesOf("t/large", 20 * mebibyte - 1, 20 * mebibyte + 1)).toEqual(Buffer.from([19, 20]));
  expect(await objects.look("t/large")).toEqual({ key: "t/large", size: 21 * mebibyte });
  expect(await bytesOf("t/none", 0, 1)).toBeNull();
  expect(s3.openUploads.size).toBe(0);
  expect((await s3.keys()).sort()).toEqual(["svc/t/a", "svc/t/empty", "svc/t/large"]);
  await objects.remove(["t/a", "t/empty", "t/large", "t/none"]);
  expect(await s3.keys()).toEqual([]);
});

test("an upload that is given up, or fails, leaves no object and no parts", async () => {
  const given = objects.upload({ key: "u/given" });
  for (let index = 0; index < 18; index++) await given.write(piece(index));
  expect(s3.openUploads.size).toBe(1);
  await given.discard();
  expect(s3.openUploads.size).toBe(0);
  s3.failing(({ path }) => (path.includes("partNumber=2&") ? 403 : null));
  const failing = objects.upload({ key: "u/failing" });
  const failure = await failureOf(
    (async () => {
      for (let index = 0; index < 40; index++) await failing.write(piece(index));
      await failing.finish();
    })(),
  );
  expect(failure).toBeInstanceOf(ObjectsUnavailable);
  await failing.discard();
  const finished = objects.upload({ key: "u/finished" });
  await finished.finish();
  await finished.discard();
  expect(s3.openUploads.size).toBe(0);
  expect(await s3.keys()).toEqual([]);
});

test("what fails for a moment is tried again, what does not answer is refused soon", async () => {
  let failures = 2;
  s3.failing(() => (failures-- > 0 ? 503 : null));
  await put("f/a", [new TextEncoder().encode("again")]);
  failures = 3;
  expect(await failureOf(objects.look("f/a"))).toMatchObject({ code: "service_unavailable", reason: "503" });
  s3.failing(() => "hang");
  const asked = s3.asked.length;
  const impatient = openObjects(s3.settings, { answerMs: 200 });
  const hung = await failureOf(impatient.read("f/a", { start: 0, end: 5 }));
  expect(hung).toMatchObject({ status: 503, reason: "no answer in time", headers: { "Retry-After": "5" } });
  expect(s3.asked.length).toBe(asked + 1);
  s3.failing(() => "cut");
  expect(await failureOf(bytesOf("f/a", 0, 5))).toBeInstanceOf(ObjectsUnavailable);
  s3.failing(() => 403);
  expect(await failureOf(objects.probe("p/1"))).toMatchObject({ reason: "403 AsTold", answered: 403 });
  s3.failing(null);
  await objects.probe("p/1");
  expect(await objects.look("p/1")).toBeNull();
  await objects.remove(["f/a"]);
  const away = openObjects({ ...s3.settings, s3Endpoint: "http://127.0.0.1:1" });
  expect(await failureOf(away.look("a"))).toMatchObject({ code: "service_unavailable", answered: null });
});

test("objects go one by one where a store does not remove many at once", async () => {
  for (const key of ["d/1", "d/2", "d/3"]) await put(key, []);
  s3.failing(({ method, path }) => (method === "POST" && path.includes("?delete") ? 501 : null));
  const other = openObjects(s3.settings);
  await other.remove(["d/1", "d/2", "d/3"]);
  expect(await s3.keys()).toEqual([]);
});
