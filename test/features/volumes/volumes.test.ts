/** Volumes through the API: their life, their files, a volume as an agent's source (docs/reference/volumes.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { sha256, VolumeFixture } from "./fixture.ts";

let at: VolumeFixture;
beforeAll(async () => {
  at = await VolumeFixture.open();
});
afterAll(() => at.close());

describe("the life of a volume", () => {
  test("create, list, get, rename, delete; another tenant sees nothing of it", async () => {
    const [who, other] = [await at.newUser(), await at.newUser()];
    const { status, body } = await at.call(who, "POST", "", { label: "papers", size_limit_bytes: 1000 });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      label: "papers",
      name: "papers",
      status: "available",
      visibility: "private",
      size_limit_bytes: 1000,
      used_bytes: 0,
      file_count: 0,
      tenant_id: expect.stringMatching(/^u-/),
      owner_user_id: expect.any(String),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const list = (await at.call(who, "GET", "")).body;
    expect(list).toMatchObject({ count: 1, total_count: 1, next_cursor: null, total_quota_bytes: 10 * 2 ** 30 });
    expect([list.items, list.volumes]).toEqual([[body], [body]]);
    expect((await at.call(who, "GET", `/${body.id.toUpperCase()}`)).body).toEqual(body);
    expect((await at.call(who, "PATCH", `/${body.id}`, { label: "letters" })).body.name).toBe("letters");
    const attempts: [string, string, unknown?][] = [
      ["GET", `/${body.id}`],
      ["PATCH", `/${body.id}`, { label: "x" }],
      ["DELETE", `/${body.id}`],
      ["GET", `/${body.id}/files`],
      ["DELETE", `/${body.id}/files?path=x`],
      ["GET", `/${body.id}/files/stat?path=x`],
      ["POST", `/${body.id}/files/mkdir`, { path: "x" }],
      ["POST", `/${body.id}/files/move`, { from: "x", to: "y" }],
    ];
    for (const [method, path, given] of attempts) {
      expect(await at.call(other, method, path, given)).toMatchObject({
        status: 404,
        body: { code: "volume_not_found" },
      });
    }
    expect((await at.call(other, "GET", "")).body.count).toBe(0);
    expect((await at.call(who, "DELETE", `/${body.id}`)).body).toEqual({
      status: "deleted",
      id: body.id,
      success: true,
    });
    expect((await at.call(who, "GET", `/${body.id}`)).status).toBe(404);
    await until(() => !existsSync(at.hostOf(body.id)), { what: "the files to go" });
  });

  test.each([
    [{}, 422, "validation_failed"],
    [{ label: "" }, 422, "validation_failed"],
    [{ label: " " }, 422, "validation_failed"],
    [{ label: "a/b" }, 422, "validation_failed"],
    [{ label: "a\0b" }, 422, "validation_failed"],
    [{ label: "\ud800" }, 422, "validation_failed"],
    [{ label: "x".repeat(129) }, 422, "validation_failed"],
    [{ label: "x", size_limit_bytes: 0 }, 422, "validation_failed"],
    [{ label: "x", size_limit_bytes: 11 * 2 ** 30 }, 422, "validation_failed"],
    [{ label: "x", visibility: "all" }, 422, "validation_failed"],
  ])("%j cannot be made", async (body, status, code) => {
    const answer = await at.call(await at.newUser(), "POST", "", body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("labels are taken once; the plan bounds the number; chat-attachments is free", async () => {
    const who = await at.newUser("free");
    await at.made(await at.newUser("enterprise"), { size_limit_bytes: 20 * 2 ** 30 });
    await at.made(who, { label: "one" });
    expect((await at.call(who, "POST", "", { label: "one" })).body.code).toBe("volume_label_taken");
    await at.made(who, { label: "two" });
    expect(await at.call(who, "POST", "", { label: "three" })).toMatchObject({
      status: 402,
      body: { code: "quota_exceeded", limit: 2, used: 2, tier: "free" },
    });
    expect(await at.call(who, "GET", "/chat-attachments")).toMatchObject({
      status: 200,
      body: { name: "chat-attachments" },
    });
    expect((await at.call(who, "GET", "/quota")).body).toEqual({
      quota_bytes: 500 * 2 ** 20,
      total_storage_bytes: 500 * 2 ** 20,
      used_bytes: 0,
      total_bytes_used: 0,
      volume_count: 3,
      volume_limit: 2,
      max_volumes: 2,
      max_file_size_bytes: 50 * 2 ** 20,
      tier: "free",
    });
  });

  test("ten at once make two, and pages join without gap", async () => {
    const who = await at.newUser("free");
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => at.call(who, "POST", "", { label: `at once ${index}` })),
    );
    expect(answers.filter(({ status }) => status === 201).length).toBe(2);
    const first = (await at.call(who, "GET", "?limit=1")).body;
    const second = (await at.call(who, "GET", `?limit=1&cursor=${first.next_cursor}`)).body;
    expect([first.count, second.count, second.next_cursor]).toEqual([1, 1, null]);
    expect(first.items[0].id).not.toBe(second.items[0].id);
    expect((await at.call(who, "GET", "/abc")).body.code).toBe("invalid_id");
  });

  test("a limit is not lowered below what is held", async () => {
    const who = await at.newUser();
    const id = await at.made(who);
    await at.put(who, id, "12345", "?path=/f");
    expect((await at.call(who, "PATCH", `/${id}`, { size_limit_bytes: 4 })).status).toBe(422);
    expect((await at.call(who, "PATCH", `/${id}`, { size_limit_bytes: 5 })).status).toBe(200);
  });
});

describe("files", () => {
  test("listing, stat, Range, ETag, 304", async () => {
    const who = await at.newUser();
    const id = await at.made(who);
    await at.put(who, id, "0123456789", "?path=/d/n.csv");
    await at.put(who, id, "%PDF-1.7 x", "?path=/a.txt");
    await at.call(who, "POST", `/${id}/files/mkdir`, { path: "/z/inner" });
    const { body } = await at.call(who, "GET", `/${id}/files`);
    expect(body.path).toBe("/");
    expect(body.entries).toEqual(body.items);
    expect(body.entries).toMatchObject([
      { name: "d", path: "/d", type: "dir", is_dir: true, mime_type: null, sha256: null },
      { name: "z", path: "/z", type: "dir" },
      { name: "a.txt", type: "file", size_bytes: 10, mime_type: "application/pdf", sha256: sha256("%PDF-1.7 x") },
    ]);
    const page = (await at.call(who, "GET", `/${id}/files?limit=2`)).body;
    const rest = (await at.call(who, "GET", `/${id}/files?limit=2&cursor=${page.next_cursor}`)).body;
    expect([page.count, rest.entries.map(({ name }: { name: string }) => name), rest.next_cursor]).toEqual([
      2,
      ["a.txt"],
      null,
    ]);
    expect((await at.call(who, "GET", `/${id}/files/stat?path=d/n.csv`)).body).toMatchObject({
      path: "/d/n.csv",
      size: 10,
      mime_type: "text/csv",
      sha256: sha256("0123456789"),
    });
    const part = await at.get(who, `/${id}/files/download?path=d/n.csv`, { Range: "bytes=1-3" });
    expect([part.status, await part.text(), part.headers.get("etag")]).toEqual([
      206,
      "123",
      `"${sha256("0123456789")}"`,
    ]);
    const same = await at.get(who, `/${id}/files/download?path=d/n.csv`, {
      "If-None-Match": `"${sha256("0123456789")}"`,
    });
    expect(same.status).toBe(304);
    expect((await at.get(who, `/${id}/files/download?path=d/n.csv`, { Range: "bytes=99-" })).status).toBe(416);
    expect((await at.call(who, "GET", `/${id}/files/download?path=/d`)).body.code).toBe("is_a_directory");
    expect((await at.call(who, "GET", `/${id}/files/download?path=/none`)).body.code).toBe("path_not_found");
    expect((await at.call(who, "GET", `/${id}/files?path=/none`)).body.code).toBe("path_not_found");
    writeFileSync(at.hostOf(id, "d/n.csv"), "changed");
    expect((await at.call(who, "GET", `/${id}/files/stat?path=d/n.csv`)).body.sha256).toBe(sha256("changed"));
  });

  test("make, move, delete", async () => {
    const who = await at.newUser();
    const id = await at.made(who);
    const move = async (from: string, to: string, more = {}) =>
      (await at.call(who, "POST", `/${id}/files/move`, { from, to, ...more })).body;
    await at.put(who, id, "f", "?path=/f");
    expect(await at.call(who, "POST", `/${id}/files/mkdir?path=/d/e`)).toMatchObject({
      body: { path: "/d/e", status: "created" },
    });
    expect((await at.call(who, "POST", `/${id}/files/mkdir`, { path: "/d/e" })).status).toBe(200);
    expect((await at.call(who, "POST", `/${id}/files/mkdir`, { path: "/f" })).status).toBe(409);
    expect((await at.call(who, "POST", `/${id}/files/mkdir`, { path: "/f/g" })).status).toBe(409);
    expect((await at.call(who, "POST", `/${id}/files/mkdir`, {})).status).toBe(422);
    expect(await move("/f", "/d/e/g")).toMatchObject({ from: "/f", to: "/d/e/g", status: "moved" });
    expect((await at.call(who, "POST", `/${id}/files/move`, { source: "d/e/g", destination: "h" })).status).toBe(200);
    expect((await move("/none", "/x")).code).toBe("path_not_found");
    expect((await move("/h", "/d")).code).toBe("destination_exists");
    expect((await move("/h", "/d", { overwrite: true })).code).toBe("destination_exists");
    expect((await move("/d", "/d/e/x")).code).toBe("invalid_path");
    expect((await move("/d", "/../x")).code).toBe("invalid_path");
    await at.put(who, id, "other", "?path=/i");
    expect((await move("/h", "/i")).code).toBe("destination_exists");
    expect((await move("/h", "/i", { overwrite: true })).status).toBe("moved");
    expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 1, file_count: 1 });
    expect((await at.call(who, "DELETE", `/${id}/files?path=/`)).body.code).toBe("invalid_path");
    expect((await at.call(who, "DELETE", `/${id}/files?path=/none`)).body.code).toBe("path_not_found");
    expect((await at.call(who, "DELETE", `/${id}/files?path=d`)).body).toEqual({ status: "deleted", path: "/d" });
    expect((await at.call(who, "DELETE", `/${id}/files?path=i`)).status).toBe(200);
    expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 0, file_count: 0 });
  });

  test("links out of the volume are never followed", async () => {
    const who = await at.newUser();
    const id = await at.made(who);
    await at.put(who, id, "x", "?path=/f");
    mkdirSync(at.hostOf(id, "d"));
    symlinkSync("/etc", at.hostOf(id, "etc"));
    symlinkSync("../../../..", at.hostOf(id, "d", "up"));
    for (const path of ["etc/passwd", "d/up/etc/passwd"]) {
      for (const route of [`files/download?path=${path}`, `files/stat?path=${path}`, `files?path=${path}`]) {
        const answer = await at.call(who, "GET", `/${id}/${route}`);
        expect([route, answer.status]).toEqual([route, answer.body.code === "path_not_found" ? 404 : 422]);
      }
      const moved = await at.call(who, "POST", `/${id}/files/move`, { from: "f", to: path, overwrite: true });
      expect([404, 422]).toContain(moved.status);
      expect([404, 422]).toContain((await at.call(who, "DELETE", `/${id}/files?path=${path}`)).status);
    }
    expect(existsSync("/etc/passwd")).toBe(true);
  });
});

test("a volume as source: mounted, attached while it runs, counted; foreign refused", async () => {
  const who = { Authorization: `Bearer ${await at.node.token()}` };
  const id = await at.made(who);
  await at.put(who, id, "given", "?path=/in.txt");
  const options = (source: string, access: string, last = "true") => ({
    spec: {
      volumes: [{ name: "data", mount_path: "/workspace/data", access_mode: access, source: { volume_id: source } }],
    },
    script: [shell(`cat data/in.txt; echo more > data/out.txt; ${last}`), say("done")],
  });
  const running = await at.executions.launch(options(id, "read-write", "sleep 2"));
  await until(() => existsSync(at.hostOf(id, "out.txt")), { timeoutMs: 20_000, what: "the agent to write" });
  expect((await at.call(who, "GET", `/${id}`)).body.status).toBe("attached");
  expect(await at.call(who, "DELETE", `/${id}`)).toMatchObject({ status: 409, body: { code: "volume_attached" } });
  const record = await at.executions.ended(running);
  expect(JSON.parse(record.iterations[0].trajectory[0].result_json).stdout).toBe("given");
  await until(async () => (await at.call(who, "GET", `/${id}`)).body.used_bytes === 10, {
    what: "what it wrote to be counted",
  });
  const reader = await at.executions.run(options(id, "read-only"));
  expect(JSON.parse(reader.iterations[0].trajectory[0].result_json)).toMatchObject({ stdout: "given" });
  expect(JSON.parse(reader.iterations[0].trajectory[0].result_json).stderr).toContain("Read-only");
  const foreign = await at.made(await at.newUser());
  const refused = await at.executions.start(await at.executions.deploy(options(foreign, "read-only")));
  expect(refused).toMatchObject({
    status: 422,
    body: { code: "invalid_volume", issues: [{ code: "volume_not_found" }] },
  });
});

describe("violations", () => {
  type Record = { [name: string]: unknown; details: { [name: string]: unknown } };
  const listed = async (who: Readonly<{ [name: string]: string }>, query = ""): Promise<Record[]> =>
    (await at.node.call("GET", `/v1/storage/violations${query}`, undefined, who)).body.items;
  const someOf = (who: Readonly<{ [name: string]: string }>, count: number, query = "") =>
    until(
      async () => {
        const items = await listed(who, query);
        return items.length >= count ? items : null;
      },
      { what: `${count} violations` },
    );

  test("a refused path leaves one, with the volume only where the caller sees it", async () => {
    const who = await at.newUser();
    const [own, foreign] = [await at.made(who), await at.made(await at.newUser())];
    for (const id of [own, own, foreign, "chat-attachments"]) {
      expect(await at.put(who, id, "x", "?path=../x")).toMatchObject({ status: 422, body: { code: "invalid_path" } });
    }
    expect((await at.call(who, "GET", `/${own}/files?path=a%07`)).status).toBe(422);
    await at.put(who, own, "x", "?path=/x");
    symlinkSync("/etc", at.hostOf(own, "out"));
    expect((await at.get(who, `/${own}/files/download?path=/out/passwd`)).status).toBe(422);
    const items = await someOf(who, 5);
    const shown = items.map(({ type, volume_id, path, operation, details }) =>
      [type, volume_id, path, operation, details.count].join(" "),
    );
    expect(shown.sort()).toEqual(
      [
        `path_traversal_blocked ${own} ../x files.upload 2`,
        "path_traversal_blocked  ../x files.upload 1",
        "path_traversal_blocked  ../x files.upload 1",
        `filesystem_policy_violation ${own} a\u0007 files.list 1`,
        `path_traversal_blocked ${own} /out/passwd files.download 1`,
      ].sort(),
    );
  });

  test("a hidden volume and a full one leave one, an unknown or foreign one none", async () => {
    const bearer = async (claims: Readonly<{ [name: string]: string }>) => ({
      Authorization: `Bearer ${await at.node.token(claims, "tenant-hidden")}`,
    });
    const [owner, who] = [await bearer({ username: "owner" }), await bearer({ username: "m", role: "tenant:member" })];
    const hidden = await at.made(owner);
    const id = await at.made(who, { size_limit_bytes: 10 });
    const foreign = await at.made(await at.newUser());
    for (const unseen of [crypto.randomUUID(), foreign, hidden]) {
      expect((await at.call(who, "DELETE", `/${unseen}`)).status).toBe(404);
    }
    expect((await at.put(who, id, "12345678901", "?path=/full")).status).toBe(402);
    const items = await someOf(owner, 2);
    for (const { details } of items) expect(Object.keys(details)).not.toContain("requested_volume");
    expect(items.map(({ type, volume_id, operation }) => [type, volume_id, operation])).toEqual(
      expect.arrayContaining([
        ["unauthorized_volume_access", null, "volume.delete"],
        ["quota_exceeded", id, "files.upload"],
      ]),
    );
    expect(items).toHaveLength(2);
  });

  test("both paths answer; all tenants are shown to operators alone, on record", async () => {
    const who = await at.newUser();
    await at.put(who, await at.made(who), "x", "?path=../x");
    const [mine] = await someOf(who, 1);
    const operator = { Authorization: `Bearer ${await at.node.token()}` };
    const both = await at.node.call("GET", "/v1/observability/storage-violations", undefined, who);
    expect(both.body).toMatchObject({ count: 1, items: [mine], violations: [mine], next_cursor: null });
    const own = await listed(operator, `?tenant_id=${mine?.tenant_id}`);
    expect(own.map(({ tenant_id }) => tenant_id)).not.toContain(mine?.tenant_id);
    expect(await listed(operator, `?all_tenants=true&tenant_id=${mine?.tenant_id}`)).toMatchObject([{ id: mine?.id }]);
    expect((await listed(operator, "?all_tenants=true")).length).toBeGreaterThan(1);
    const refused = await at.node.call("GET", "/v1/storage/violations?all_tenants=true", undefined, who);
    expect(refused).toMatchObject({ status: 403, body: { code: "operator_required" } });
    const entries = await at.node.call("GET", "/v1/audit?action=tenant.all_read", undefined, operator);
    expect(entries.body.items).toMatchObject([{ target: { id: "*" } }, { target: { id: mine?.tenant_id } }]);
  });
});
