/** Volumes in an object store, through the API: files, attachments, and what executions write (docs/reference/volumes.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { say, shell } from "../../harness/manifests.ts";
import { type S3Store, startS3 } from "../../harness/outside/s3.ts";
import { until } from "../../harness/until.ts";
import { sha256, VolumeFixture } from "./fixture.ts";

let s3: S3Store;
let at: VolumeFixture;
beforeAll(async () => {
  s3 = await startS3();
  at = await VolumeFixture.open(s3.environment);
});
afterAll(async () => {
  await at.close();
  await s3.stop();
});

const keysOf = async (id: string) => (await s3.keys()).filter((key) => key.includes(id));

test("files are uploaded, listed, sent by parts, moved and deleted", async () => {
  const who = await at.newUser();
  const id = await at.made(who);
  const large = new Uint8Array(10 * 2 ** 20).map((_, index) => index % 251);
  const form = new FormData();
  form.append("file", new Blob([large]), "large.bin");
  form.append("path", "/deep/down/");
  const { body } = await at.put(who, id, form);
  expect(body).toMatchObject({ path: "/deep/down/large.bin", size: large.length, sha256: sha256(large) });
  expect(s3.openUploads.size).toBe(0);
  const [key = "", ...others] = await keysOf(id);
  expect([key.includes("large"), others]).toEqual([false, []]);
  expect(existsSync(at.hostOf(id))).toBe(false);
  const path = `/${id}/files/download?path=/deep/down/large.bin`;
  const whole = await at.get(who, path);
  expect([whole.headers.get("content-length"), whole.headers.get("etag")]).toEqual([
    String(large.length),
    `"${sha256(large)}"`,
  ]);
  expect(sha256(await whole.bytes())).toBe(sha256(large));
  const part = await at.get(who, path, { Range: "bytes=1000-3000" });
  expect([part.status, part.headers.get("content-length")]).toEqual([206, "2001"]);
  expect(await part.bytes()).toEqual(large.slice(1000, 3001));
  const asked = s3.asked.length;
  expect((await at.get(who, path, { "If-None-Match": `"${sha256(large)}"` })).status).toBe(304);
  expect((await at.get(who, path, { Range: `bytes=${large.length}-` })).status).toBe(416);
  expect(s3.asked.length).toBe(asked);
  expect((await at.put(who, id, "text", "?path=/b.txt")).status).toBe(200);
  expect((await at.put(who, id, "other text", "?path=/b.txt")).status).toBe(200);
  expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: large.length + 10, file_count: 2 });
  expect((await at.call(who, "POST", `/${id}/files/mkdir`, { path: "/c/d" })).status).toBe(200);
  const list = (await at.call(who, "GET", `/${id}/files?limit=2`)).body;
  const next = (await at.call(who, "GET", `/${id}/files?limit=2&cursor=${encodeURIComponent(list.next_cursor)}`)).body;
  const shown = [...list.entries, ...next.entries].map((entry: { name: string }) => entry.name);
  expect([shown, next.next_cursor]).toEqual([["c", "deep", "b.txt"], null]);
  const moves: [Record<string, unknown>, number, string?][] = [
    [{ from: "/none", to: "/x" }, 404, "path_not_found"],
    [{ from: "/b.txt", to: "/deep" }, 409, "destination_exists"],
    [{ from: "/deep", to: "/deep/x" }, 422, "invalid_path"],
    [{ from: "/deep", to: "/c/d/e" }, 200],
    [{ from: "/b.txt", to: "/c/d/e/down/large.bin" }, 409, "destination_exists"],
    [{ from: "/b.txt", to: "/c/d/e/down/large.bin", overwrite: true }, 200],
  ];
  for (const [given, status, code] of moves) {
    const answer = await at.call(who, "POST", `/${id}/files/move`, given);
    expect([given, answer.status, answer.body.code]).toEqual([given, status, code]);
  }
  expect(await (await at.get(who, `/${id}/files/download?path=c/d/e/down/large.bin`)).text()).toBe("other text");
  expect((await at.get(who, `/${id}/files/download?path=c`)).status).toBe(422);
  expect((await at.call(who, "DELETE", `/${id}/files?path=/c`)).status).toBe(200);
  expect((await at.call(who, "GET", `/${id}/files`)).body.entries).toEqual([]);
  expect((await at.call(who, "DELETE", `/${id}`)).status).toBe(200);
});

test("what fits no quota, breaks off or meets a store that is away leaves nothing", async () => {
  const who = await at.newUser("free");
  const id = await at.made(who, { size_limit_bytes: 3 * 2 ** 20 });
  expect((await at.put(who, id, new Uint8Array(4 * 2 ** 20), "?path=/a")).status).toBe(402);
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(52 * 2 ** 20)]), "x");
  expect((await at.put(who, id, form)).status).toBe(413);
  s3.failing(({ method }) => (method === "PUT" ? 503 : null));
  const away = await at.put(who, id, "text", "?path=/b");
  expect(away).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
  s3.failing(null);
  await at.put(who, id, "text", "?path=/c");
  s3.failing(() => "hang");
  const hung = await at.get(who, `/${id}/files/download?path=/c`);
  expect([hung.status, hung.headers.get("retry-after")]).toEqual([503, "5"]);
  s3.failing(null);
  expect((await at.call(who, "GET", `/${id}/files`)).body.entries.length).toBe(1);
  expect((await keysOf(id)).length).toBe(1);
  expect(s3.openUploads.size).toBe(0);
});

test("an execution mounts a copy, and what it changed is stored when it is over", async () => {
  const who = { Authorization: `Bearer ${await at.node.token()}` };
  const id = await at.made(who);
  await at.put(who, id, "given", "?path=/in/given.txt");
  await at.put(who, id, "goes", "?path=/gone.txt");
  const options = (access: string, script: string) => ({
    spec: {
      volumes: [{ name: "data", mount_path: "/workspace/data", access_mode: access, source: { volume_id: id } }],
    },
    script: [shell(script), say("done")],
  });
  const writer = "cd data; cat in/given.txt; printf more > out.txt; printf x >> in/given.txt; rm gone.txt; mkdir empty";
  const record = await at.executions.run(options("read-write", writer));
  expect(JSON.parse(record.iterations[0].trajectory[0].result_json).stdout).toBe("given");
  expect(record.status).toBe("completed");
  const names = (await at.call(who, "GET", `/${id}/files`)).body.entries.map((entry: { path: string }) => entry.path);
  expect(names).toEqual(["/empty", "/in", "/out.txt"]);
  expect(await (await at.get(who, `/${id}/files/download?path=in/given.txt`)).text()).toBe("givenx");
  expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 10, file_count: 2 });
  const files = await at.node.call("GET", `/v1/executions/${record.id ?? record.execution_id}/files?path=data`);
  expect(files.body.entries.map((entry: { name: string }) => entry.name)).toEqual(["empty", "in", "out.txt"]);
  const reader = await at.executions.run(options("read-only", "cat data/out.txt; touch data/x"));
  expect(JSON.parse(reader.iterations[0].trajectory[0].result_json)).toMatchObject({ stdout: "more" });
  // Ephemeral workspaces stay on the node.
  expect(readdirSync(`${at.node.dataDir}/workspaces`).length).toBeGreaterThan(0);
});

test("the objects of a deleted volume are erased", async () => {
  const who = await at.newUser();
  const id = await at.made(who);
  await at.put(who, id, "text", "?path=/a.txt");
  expect((await keysOf(id)).length).toBe(1);
  await at.call(who, "DELETE", `/${id}`);
  await until(async () => (await keysOf(id)).length === 0, { timeoutMs: 20_000, what: "the object to go" });
});
