/** Files of executions through the API: the routes, volumes, the filesystem policy, attachments. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { calls, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "./fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at.close());

const get = async (path: string, headers: Record<string, string> = {}) =>
  fetch(at.node.url + path, { headers: { Authorization: `Bearer ${await at.node.token()}`, ...headers } });
const files = (id: string, query = "") => at.node.call("GET", `/v1/executions/${id}/files${query}`);

describe("the files of an execution", () => {
  let id: string;
  let workspace: string;
  beforeAll(async () => {
    const record = await at.run({
      execution: { mode: "iterative", max_iterations: 2, validation: [{ type: "regex", pattern: "seen: one" }] },
      script: {
        1: [
          shell("mkdir -p out; printf 0123456789 > out/n.txt; printf one > kept; ln -s /etc/passwd leak"),
          say("first"),
        ],
        2: [shell("printf 'seen: '; cat kept"), { content: "{{last}}" }],
      },
    });
    id = record.execution_id;
    workspace = join(at.node.dataDir, "workspaces", id);
    expect(record).toMatchObject({ status: "completed", total_iterations: 2 });
    expect(record.volumes).toEqual([
      { name: "workspace", volume_id: id, mount_path: "/workspace", access_mode: "read-write" },
    ]);
  });

  test("a file of iteration 1 is readable in iteration 2 and through the routes", async () => {
    const { body } = await files(id);
    expect(body.count).toBe(2);
    expect(body.items).toEqual(body.entries);
    expect(body.entries.map(({ path, type }: { path: string; type: string }) => [path, type])).toEqual([
      ["/out", "dir"],
      ["/kept", "file"],
    ]);
    const whole = await get(`/v1/executions/${id}/files/out/n.txt`);
    expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "content-length": "10",
      "content-type": "text/plain",
      "content-disposition": `attachment; filename="n.txt"; filename*=UTF-8''n.txt`,
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
    });
    for (const path of ["/workspace/out/n.txt", "workspace/out/n.txt", "%2Fout%2Fn.txt", "out/./n.txt"]) {
      expect([path, await (await get(`/v1/executions/${id}/files/${path}`)).text()]).toEqual([path, "0123456789"]);
    }
    const deep = await files(id, "?recursive=true&path=workspace");
    expect(deep.body.entries.map(({ path }: { path: string }) => path)).toEqual(["/out", "/out/n.txt", "/kept"]);
    expect((await files(id, "?path=out")).body.entries[0]).toMatchObject({
      name: "n.txt",
      path: "/out/n.txt",
      is_dir: false,
      size_bytes: 10,
      mime_type: "text/plain",
      sha256: null,
    });
  });

  test.each([
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=0-99", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=4-2", 200, "0123456789", null],
    ["bytes=0-1,4-5", 200, "0123456789", null],
    ["lines=0-1", 200, "0123456789", null],
  ])("Range %s: %i", async (range, status, text, content) => {
    const response = await get(`/v1/executions/${id}/files/out/n.txt`, { Range: range });
    expect([response.status, await response.text(), response.headers.get("content-range")]).toEqual([
      status,
      text,
      content,
    ]);
  });

  test("a range past the end is 416; the ETag saves a transfer until the file changes", async () => {
    const past = await get(`/v1/executions/${id}/files/out/n.txt`, { Range: "bytes=10-" });
    expect([past.status, past.headers.get("content-range")]).toEqual([416, "bytes */10"]);
    expect(await past.json()).toMatchObject({ code: "range_not_satisfiable" });
    const etag = (await get(`/v1/executions/${id}/files/kept`)).headers.get("etag") ?? "";
    const again = await get(`/v1/executions/${id}/files/kept`, { "If-None-Match": `"x", ${etag}` });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    utimesSync(join(workspace, "kept"), 1, 1);
    expect((await get(`/v1/executions/${id}/files/kept`, { "If-None-Match": etag })).status).toBe(200);
    const stale = await get(`/v1/executions/${id}/files/kept`, { "If-Range": etag, Range: "bytes=0-0" });
    expect(stale.status).toBe(200);
  });

  test.each([
    ["/a%2F..%2F..%2Fx", 422, "invalid_path"],
    ["/%2e%2e%2fx", 422, "invalid_path"],
    ["/a%00b", 422, "invalid_path"],
    ["/a%0Ab", 422, "invalid_path"],
    [`/${"x/".repeat(2100)}`, 422, "invalid_path"],
    [`/${"x".repeat(256)}`, 422, "invalid_path"],
    ["/leak", 422, "invalid_path"],
    ["/out", 422, "is_a_directory"],
    ["/workspace", 422, "is_a_directory"],
    ["/none", 404, "path_not_found"],
    ["/kept/inner", 404, "path_not_found"],
    ["?path=../..", 422, "invalid_path"],
    ["?path=none", 404, "path_not_found"],
    ["?path=leak", 422, "invalid_path"],
    ["?path=kept", 422, "invalid_path"],
  ])("%s: %i %s", async (path, status, code) => {
    const answer = await files(id, path);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("unknown, foreign and misspelt executions", async () => {
    expect(await files(crypto.randomUUID())).toMatchObject({ status: 404, body: { code: "execution_not_found" } });
    expect(await files("abc")).toMatchObject({ status: 400, body: { code: "invalid_execution_id" } });
    expect(await files("abc", "/x")).toMatchObject({ status: 400, body: { code: "invalid_execution_id" } });
    const foreign = { "X-Tenant-Id": "other" };
    const answer = await at.node.call("GET", `/v1/executions/${id}/files/kept`, undefined, foreign);
    expect(answer).toMatchObject({ status: 404, body: { code: "execution_not_found" } });
  });

  test("HEAD tells type and state without the content", async () => {
    const headers = { Authorization: `Bearer ${await at.node.token()}` };
    const head = await fetch(`${at.node.url}/v1/executions/${id}/files/out/n.txt`, { method: "HEAD", headers });
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "text/plain", ""]);
    const whole = await get(`/v1/executions/${id}/files/out/n.txt`);
    expect(head.headers.get("etag")).toBe(await whole.text().then(() => whole.headers.get("etag")));
  });

  test("a gigabyte is streamed, a pipe is no file, a swapped directory leads nowhere", async () => {
    writeFileSync(join(workspace, "big"), "");
    truncateSync(join(workspace, "big"), 2 ** 30);
    const big = await get(`/v1/executions/${id}/files/big`);
    expect(big.headers.get("content-length")).toBe(String(2 ** 30));
    await big.body?.cancel();
    Bun.spawnSync(["mkfifo", join(workspace, "pipe")]);
    expect((await files(id, "/pipe")).status).toBe(422);
    symlinkSync("/etc", join(workspace, "etc"));
    expect(await files(id, "/etc/passwd")).toMatchObject({ status: 422, body: { code: "invalid_path" } });
  });

  test("50,000 files in one directory are bounded and do not hold up the node", async () => {
    const many = join(workspace, "many");
    mkdirSync(many);
    for (let index = 0; index < 50_000; index++) writeFileSync(join(many, `f${index}`), "");
    const listing = files(id, "?path=many");
    const health = await fetch(`${at.node.url}/health`);
    expect(health.status).toBe(200);
    const { body } = await listing;
    expect([body.count, body.truncated]).toEqual([10_000, true]);
    rmSync(many, { recursive: true });
  });

  test("once the time is over they are gone; an erased execution has none", async () => {
    await at.node.call("DELETE", `/v1/executions/${id}`);
    expect((await files(id)).status).toBe(404);
  });
});

test("files of a run that is under way, and of one that ended without ever having any", async () => {
  const id = await at.launch({ script: [shell("printf early > f; sleep 30"), say("x")] });
  const workspace = join(at.node.dataDir, "workspaces", id);
  const file = join(workspace, "f");
  await until(() => existsSync(file) && readFileSync(file, "utf8") === "early", {
    timeoutMs: 20_000,
    what: "the file",
  });
  expect(await (await get(`/v1/executions/${id}/files/f`)).text()).toBe("early");
  await at.node.call("POST", `/v1/executions/${id}/cancel`);
});

test("write=[/workspace/out] holds in the shell and for fs.write", async () => {
  const record = await at.run({
    spec: { security: { filesystem: { write: ["/workspace/out"] } } },
    script: [
      shell("echo x > out/shell && echo ok; echo x > beside || echo refused"),
      calls(
        ["fs.write", { path: "/workspace/out/tool", content: "x" }],
        ["fs.write", { path: "/workspace/beside", content: "x" }],
      ),
      say("done"),
    ],
  });
  const [inShell, inside, beside] = record.iterations[0].trajectory;
  expect(JSON.parse(inShell.result_json).stdout).toBe("ok\nrefused\n");
  expect(inside.status).toBe("succeeded");
  expect([beside.status, JSON.parse(beside.result_json ?? beside.error)]).toMatchObject(["refused", {}]);
  const listed = (await files(record.execution_id, "?recursive=true")).body.entries;
  expect(listed.map(({ path }: { path: string }) => path)).toEqual(["/out", "/out/shell", "/out/tool"]);
});

test("what may not be read is hidden in the shell and from the tools", async () => {
  const record = await at.run({
    spec: { security: { filesystem: { read: ["/workspace/in"] } } },
    script: [
      shell("ls -a /workspace | tr '\\n' ' '; echo x > in/f; cat in/f"),
      calls(["fs.list", { recursive: true }], ["fs.read", { path: "in/f" }], ["fs.read", { path: "secret" }]),
      say("done"),
    ],
  });
  const [inShell, list, seen, secret] = record.iterations[0].trajectory;
  expect(JSON.parse(inShell.result_json).stdout).toBe(". .. in x\n");
  expect(JSON.parse(list.result_json).entries.map(({ path }: { path: string }) => path)).toEqual([
    "/workspace/in",
    "/workspace/in/f",
  ]);
  expect([seen.status, secret.status]).toEqual(["succeeded", "refused"]);
});

test("a volume that grows beyond its limit ends the instance, on any disk", async () => {
  const record = await at.run({
    spec: { volumes: [{ name: "small", mount_path: "/workspace/small", size_limit: "1Mi" }] },
    script: [shell("head -c 8000000 /dev/zero > small/big; sleep 60"), say("survived")],
  });
  expect(record).toMatchObject({ status: "failed", error_code: "disk_exceeded" });
  const violations = `/v1/storage/violations?execution_id=${record.execution_id}`;
  const [violation] = await until(
    async () => {
      const { items } = (await at.node.call("GET", violations)).body;
      return items.length > 0 ? items : null;
    },
    { what: "the violation" },
  );
  expect(violation).toMatchObject({
    type: "quota_exceeded",
    operation: "execution.write",
    details: { quota: "size_limit_bytes", limit: 2 ** 20, count: 1 },
  });
});

test("a volume full of files without content ends the instance, too", async () => {
  const record = await at.run({
    spec: { volumes: [{ name: "small", mount_path: "/workspace/small", size_limit: "1Mi" }] },
    script: [shell("cd small; mkdir d; cd d; seq 1 3000 | xargs touch; sleep 60"), say("survived")],
  });
  expect(record).toMatchObject({ status: "failed", error_code: "disk_exceeded" });
});

test("both kinds of volumes are mounted, kept, shown and writable as declared", async () => {
  const options = {
    name: `volumes-${process.pid}`,
    spec: {
      volumes: [
        { name: "scratch", mount_path: "/workspace/scratch" },
        { name: "lasting", mount_path: "/workspace/lasting", storage_class: "persistent" },
      ],
    },
    script: [
      shell("cat lasting/count 2>/dev/null; ls scratch; echo one >> lasting/count; echo x > scratch/f"),
      calls(["fs.read", { path: "lasting/count" }], ["fs.delete", { path: "lasting", recursive: true }]),
      say("done"),
    ],
  };
  const agent = await at.deploy(options);
  const run = async () => at.ended((await at.start(agent)).body.execution_id);
  const first = await run();
  const second = await run();
  const stdout = (record: typeof first) => JSON.parse(record.iterations[0].trajectory[0].result_json).stdout;
  expect([stdout(first), stdout(second)]).toEqual(["", "one\n"]);
  const [, read, removed] = second.iterations[0].trajectory;
  expect(JSON.parse(read.result_json).content).toBe("one\none\n");
  expect(removed.status).toBe("failed");
  const idOf = (record: typeof first, name: string) =>
    record.volumes.find((volume: { name: string }) => volume.name === name).volume_id;
  expect(second.volumes.map(({ mount_path }: { mount_path: string }) => mount_path)).toEqual([
    "/workspace",
    "/workspace/scratch",
    "/workspace/lasting",
  ]);
  expect(idOf(first, "lasting")).toBe(idOf(second, "lasting"));
  expect(idOf(first, "scratch")).not.toBe(idOf(second, "scratch"));
  const file = await get(`/v1/executions/${first.execution_id}/files/scratch/f`);
  expect(await file.text()).toBe("x\n");
  await at.node.call("DELETE", `/v1/executions/${first.execution_id}`);
  await until(() => !existsSync(join(at.node.dataDir, "workspaces", idOf(first, "scratch"))), {
    what: "the ephemeral volume to go",
  });
  expect(existsSync(join(at.node.dataDir, "volumes", idOf(first, "lasting"), "count"))).toBe(true);
});
