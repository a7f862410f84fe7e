/** Volumes through the API: their life, their files, quotas, attachments (docs/reference/volumes.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calls, say, shell } from "../../harness/manifests.ts";
import type { Answer } from "../../harness/node/node-process.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at.close());

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
let count = 0;
/** Somebody with a tenant of his own. */
async function newUser(tier = "pro"): Promise<Record<string, string>> {
  count += 1;
  const token = await at.node.token({ username: `person-${count}`, tier }, "svc-consumer");
  return { Authorization: `Bearer ${token}` };
}
const call = (who: Record<string, string>, method: string, path: string, body?: unknown) =>
  at.node.call(method, `/v1/volumes${path}`, body, who);
async function made(who: Record<string, string>, body: Record<string, unknown> = {}): Promise<string> {
  count += 1;
  const answer = await call(who, "POST", "", { label: `volume ${count}`, ...body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.id;
}
/** An upload: a form, or bytes. */
async function put(
  who: Record<string, string>,
  volume: string,
  body: FormData | string | Uint8Array<ArrayBuffer> | ReadableStream,
  query = "",
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${at.node.url}/v1/volumes/${volume}/files/upload${query}`, {
    method: "POST",
    headers: { ...who, ...headers },
    body,
  });
  const answer: Pick<Answer, "status" | "body"> = { status: response.status, body: await response.json() };
  return answer;
}
const get = (who: Record<string, string>, path: string, headers: Record<string, string> = {}) =>
  fetch(`${at.node.url}/v1/volumes${path}`, { headers: { ...who, ...headers } });
const form = (...parts: readonly [name: string, value: string | File][]) => {
  const data = new FormData();
  for (const [name, value] of parts) data.append(name, value);
  return data;
};
const hostOf = (id: string, ...path: string[]) => join(at.node.dataDir, "volumes", id, ...path);

describe("the life of a volume", () => {
  test("create, list, get, rename, delete; another tenant sees nothing of it", async () => {
    const [who, other] = [await newUser(), await newUser()];
    const { status, body } = await call(who, "POST", "", { label: "papers", size_limit_bytes: 1000 });
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
    const list = (await call(who, "GET", "")).body;
    expect(list).toMatchObject({ count: 1, total_count: 1, next_cursor: null, total_quota_bytes: 10 * 2 ** 30 });
    expect([list.items, list.volumes]).toEqual([[body], [body]]);
    expect((await call(who, "GET", `/${body.id.toUpperCase()}`)).body).toEqual(body);
    expect((await call(who, "PATCH", `/${body.id}`, { label: "letters" })).body.name).toBe("letters");
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
      expect(await call(other, method, path, given)).toMatchObject({ status: 404, body: { code: "volume_not_found" } });
    }
    expect((await call(other, "GET", "")).body.count).toBe(0);
    expect((await call(who, "DELETE", `/${body.id}`)).body).toEqual({ status: "deleted", id: body.id, success: true });
    expect((await call(who, "GET", `/${body.id}`)).status).toBe(404);
    await until(() => !existsSync(hostOf(body.id)), { what: "the files to go" });
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
    const answer = await call(await newUser(), "POST", "", body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("labels are taken once; the plan bounds the number; chat-attachments is free", async () => {
    const who = await newUser("free");
    await made(who, { label: "one" });
    expect((await call(who, "POST", "", { label: "one" })).body.code).toBe("volume_label_taken");
    await made(who, { label: "two" });
    expect(await call(who, "POST", "", { label: "three" })).toMatchObject({
      status: 402,
      body: { code: "quota_exceeded", limit: 2, used: 2, tier: "free" },
    });
    expect(await call(who, "GET", "/chat-attachments")).toMatchObject({
      status: 200,
      body: { name: "chat-attachments" },
    });
    expect((await call(who, "GET", "/quota")).body).toEqual({
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
    const who = await newUser("free");
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => call(who, "POST", "", { label: `at once ${index}` })),
    );
    expect(answers.filter(({ status }) => status === 201).length).toBe(2);
    const first = (await call(who, "GET", "?limit=1")).body;
    const second = (await call(who, "GET", `?limit=1&cursor=${first.next_cursor}`)).body;
    expect([first.count, second.count, second.next_cursor]).toEqual([1, 1, null]);
    expect(first.items[0].id).not.toBe(second.items[0].id);
    expect((await call(who, "GET", "/abc")).body.code).toBe("invalid_id");
  });

  test("a limit is not lowered below what is held", async () => {
    const who = await newUser();
    const id = await made(who);
    await put(who, id, "12345", "?path=/f");
    expect((await call(who, "PATCH", `/${id}`, { size_limit_bytes: 4 })).status).toBe(422);
    expect((await call(who, "PATCH", `/${id}`, { size_limit_bytes: 5 })).status).toBe(200);
  });
});

describe("uploads", () => {
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));

  test("every form stores identical bytes", async () => {
    const who = await newUser();
    const id = await made(who);
    const file = new File([bytes], "n.bin");
    const forms: [string, FormData | Uint8Array<ArrayBuffer>, string, string][] = [
      ["path before the file", form(["path", "/a/one.bin"], ["file", file]), "", "/a/one.bin"],
      ["path after the file", form(["file", file], ["path", "/a/two.bin"]), "", "/a/two.bin"],
      ["?path=", form(["file", file], ["path", "/ignored"]), "?path=a/three.bin", "/a/three.bin"],
      ["raw", new Uint8Array(bytes), "?path=/a/four.bin", "/a/four.bin"],
      ["without a name", form(["file", new File([bytes], "")]), "", "/uploads/upload.bin"],
      ["another part with a filename", form(["x", "field"], ["upload", file]), "", "/uploads/n.bin"],
      ["file after another one", form(["other", new File(["no"], "no")], ["file", file]), "?path=/b/", "/b/n.bin"],
      ["into a directory", form(["file", new File([bytes], "five.bin")]), "?path=/a", "/a/five.bin"],
    ];
    for (const [what, body, query, path] of forms) {
      const answer = await put(who, id, body, query);
      expect([what, answer.status, answer.body.path]).toEqual([what, 200, path]);
      expect(answer.body).toMatchObject({ volume_id: id, size: 70_000, size_bytes: 70_000, sha256: sha256(bytes) });
      const download = await get(who, `/${id}/files/download?path=${path}`);
      expect(sha256(await download.bytes())).toBe(sha256(bytes));
    }
    expect((await call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 8 * 70_000, file_count: 8 });
  });

  test("X-Filename and chosen paths are numbered unless equal, explicit ones replaced", async () => {
    const who = await newUser();
    const id = await made(who);
    const send = async (text: string, name: string) => (await put(who, id, text, "", { "X-Filename": name })).body.path;
    expect(await send("a", "gr%C3%BC%C3%9Fe.txt")).toBe("/uploads/grüße.txt");
    expect(await send("a", "n.txt")).toBe("/uploads/n.txt");
    expect(await send("a", "n.txt")).toBe("/uploads/n.txt");
    expect(await send("b", "n.txt")).toBe("/uploads/n-1.txt");
    expect(await send("b", "n.txt")).toBe("/uploads/n-1.txt");
    await put(who, id, "replaced", "?path=/uploads/n.txt");
    expect(await (await get(who, `/${id}/files/download?path=uploads/n.txt`)).text()).toBe("replaced");
    expect((await call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 10, file_count: 3 });
  });

  test.each([
    ["?path=../x", "", 422, "invalid_path"],
    ["?path=/a/../../x", "", 422, "invalid_path"],
    ["?path=a%00b", "", 422, "validation_failed"],
    ["?path=a%01b", "", 422, "invalid_path"],
    [`?path=${"x".repeat(256)}`, "", 422, "invalid_path"],
    ["", "..", 422, "invalid_path"],
    ["", "a%2Fb", 422, "invalid_path"],
    ["?path=/file/inner", "", 404, "path_not_found"],
    ["?path=/leak/x", "", 422, "invalid_path"],
  ])("%s as %j: %i %s, and nothing is left", async (query, name, status, code) => {
    const who = await newUser();
    const id = await made(who);
    await put(who, id, "x", "?path=/file");
    symlinkSync("/tmp", hostOf(id, "leak"));
    const answer = await put(who, id, "x", query, name === "" ? {} : { "X-Filename": name });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(readdirSync(hostOf(id)).sort()).toEqual(["file", "leak"]);
    expect(readdirSync(join(at.node.dataDir, "volumes", ".uploads"))).toEqual([]);
  });

  test.each([
    ["no boundary", "multipart/form-data", "x", 400, "malformed_body"],
    ["no end", "multipart/form-data; boundary=b", "--b\r\n\r\nx", 400, "malformed_body"],
    ["nothing", "multipart/form-data; boundary=b", "", 400, "malformed_body"],
    [
      "no file",
      "multipart/form-data; boundary=b",
      '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--',
      422,
      "missing_file",
    ],
    ["endless headers", "multipart/form-data; boundary=b", `--b\r\n${"x".repeat(100_000)}`, 400, "malformed_body"],
    ["a broken boundary", "multipart/form-data; boundary=b", "--bx\r\n\r\nx\r\n--b--", 400, "malformed_body"],
  ])("a form with %s is refused", async (_, type, body, status, code) => {
    const who = await newUser();
    const answer = await put(who, await made(who), body, "", { "Content-Type": type });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("60 MiB on free: 413 with a length and without one, no file", async () => {
    const who = await newUser("free");
    const id = await made(who);
    const piece = new Uint8Array(2 ** 20);
    const whole = new Uint8Array(60 * 2 ** 20);
    expect(await put(who, id, whole, "?path=/f")).toMatchObject({
      status: 413,
      body: { code: "file_too_large", limit: 50 * 2 ** 20 },
    });
    let sent = 0;
    const stream = new ReadableStream({
      pull(controller) {
        sent += 1;
        if (sent > 60) controller.close();
        else controller.enqueue(piece);
      },
    });
    expect((await put(who, id, stream, "?path=/f").catch(() => ({ status: 413 }))).status).toBe(413);
    expect((await call(who, "GET", `/${id}/files`)).body.count).toBe(0);
    await until(() => readdirSync(join(at.node.dataDir, "volumes", ".uploads")).length === 0, { what: "no drafts" });
  });

  test.each(["without a length", "of a form", "with a length", "of many at once"] as const)(
    "no more than the quota is ever on the disk of an upload %s that is too large",
    async (kind) => {
      const who = await newUser();
      const id = await made(who, { size_limit_bytes: 2 ** 20 });
      await put(who, id, "x".repeat(1000), "?path=/there");
      const drafts = join(at.node.dataDir, "volumes", ".uploads");
      const sizes = () =>
        readdirSync(drafts).map((name) => statSync(join(drafts, name), { throwIfNoEntry: false })?.size ?? 0);
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(
          most,
          sizes().reduce((sum, size) => sum + size, 0),
        );
      }, 1);
      let sent = 0;
      const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n');
      const stream = (first: Uint8Array) =>
        new ReadableStream({
          start: (controller) => controller.enqueue(first),
          async pull(controller) {
            sent += 1;
            if (sent > 640) return controller.close();
            controller.enqueue(new Uint8Array(2 ** 16));
            // A client sends its parts one after another; the size of the draft is looked at meanwhile.
            await Bun.sleep(1);
          },
        });
      const gone = () => ({ status: 402, body: { code: "quota_exceeded" } });
      const send = (path: string) => {
        if (kind === "with a length") return put(who, id, new Uint8Array(40 * 2 ** 20), `?path=${path}`);
        if (kind !== "of a form") return put(who, id, stream(new Uint8Array(1)), `?path=${path}`);
        return put(who, id, stream(head), "", { "Content-Type": "multipart/form-data; boundary=b" });
      };
      const paths = kind === "of many at once" ? ["/a", "/b", "/c", "/d"] : ["/a"];
      // The connection may be closed before the client has read the answer.
      const answers = await Promise.all(paths.map((path) => send(path).catch(gone)));
      clearInterval(watch);
      for (const answer of answers) expect(answer).toMatchObject({ status: 402, body: { code: "quota_exceeded" } });
      expect(most).toBeLessThanOrEqual(2 ** 20);
      await until(() => readdirSync(drafts).length === 0, { what: "no drafts" });
      expect((await put(who, id, "y".repeat(2 ** 20 - 1000), "?path=/fits")).status).toBe(200);
      expect((await put(who, id, "z".repeat(2 ** 20 - 1000), "?path=/fits")).status).toBe(200);
    },
    30_000,
  );

  test("parallel uploads never exceed the limit", async () => {
    const who = await newUser();
    const id = await made(who, { size_limit_bytes: 1000 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => put(who, id, "x".repeat(300), `?path=/f${index}`)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBe(3);
    expect(answers.filter(({ body }) => body.code === "quota_exceeded").length).toBe(17);
    expect((await call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 900, file_count: 3 });
    expect((await put(who, id, "x".repeat(400), "?path=/f-new")).status).toBe(402);
  });
});

describe("files", () => {
  test("listing, stat, Range, ETag, 304", async () => {
    const who = await newUser();
    const id = await made(who);
    await put(who, id, "0123456789", "?path=/d/n.csv");
    await put(who, id, "%PDF-1.7 x", "?path=/a.txt");
    await call(who, "POST", `/${id}/files/mkdir`, { path: "/z/inner" });
    const { body } = await call(who, "GET", `/${id}/files`);
    expect(body.path).toBe("/");
    expect(body.entries).toEqual(body.items);
    expect(body.entries).toMatchObject([
      { name: "d", path: "/d", type: "dir", is_dir: true, mime_type: null, sha256: null },
      { name: "z", path: "/z", type: "dir" },
      { name: "a.txt", type: "file", size_bytes: 10, mime_type: "application/pdf", sha256: sha256("%PDF-1.7 x") },
    ]);
    const page = (await call(who, "GET", `/${id}/files?limit=2`)).body;
    const rest = (await call(who, "GET", `/${id}/files?limit=2&cursor=${page.next_cursor}`)).body;
    expect([page.count, rest.entries.map(({ name }: { name: string }) => name), rest.next_cursor]).toEqual([
      2,
      ["a.txt"],
      null,
    ]);
    expect((await call(who, "GET", `/${id}/files/stat?path=d/n.csv`)).body).toMatchObject({
      path: "/d/n.csv",
      size: 10,
      mime_type: "text/csv",
      sha256: sha256("0123456789"),
    });
    const part = await get(who, `/${id}/files/download?path=d/n.csv`, { Range: "bytes=1-3" });
    expect([part.status, await part.text(), part.headers.get("etag")]).toEqual([
      206,
      "123",
      `"${sha256("0123456789")}"`,
    ]);
    const same = await get(who, `/${id}/files/download?path=d/n.csv`, { "If-None-Match": `"${sha256("0123456789")}"` });
    expect(same.status).toBe(304);
    expect((await get(who, `/${id}/files/download?path=d/n.csv`, { Range: "bytes=99-" })).status).toBe(416);
    expect((await call(who, "GET", `/${id}/files/download?path=/d`)).body.code).toBe("is_a_directory");
    expect((await call(who, "GET", `/${id}/files/download?path=/none`)).body.code).toBe("path_not_found");
    expect((await call(who, "GET", `/${id}/files?path=/none`)).body.code).toBe("path_not_found");
    writeFileSync(hostOf(id, "d/n.csv"), "changed");
    expect((await call(who, "GET", `/${id}/files/stat?path=d/n.csv`)).body.sha256).toBe(sha256("changed"));
  });

  test("make, move, delete", async () => {
    const who = await newUser();
    const id = await made(who);
    const move = async (from: string, to: string, more = {}) =>
      (await call(who, "POST", `/${id}/files/move`, { from, to, ...more })).body;
    await put(who, id, "f", "?path=/f");
    expect(await call(who, "POST", `/${id}/files/mkdir?path=/d/e`)).toMatchObject({
      body: { path: "/d/e", status: "created" },
    });
    expect((await call(who, "POST", `/${id}/files/mkdir`, { path: "/d/e" })).status).toBe(200);
    expect((await call(who, "POST", `/${id}/files/mkdir`, { path: "/f" })).status).toBe(409);
    expect((await call(who, "POST", `/${id}/files/mkdir`, { path: "/f/g" })).status).toBe(409);
    expect((await call(who, "POST", `/${id}/files/mkdir`, {})).status).toBe(422);
    expect(await move("/f", "/d/e/g")).toMatchObject({ from: "/f", to: "/d/e/g", status: "moved" });
    expect((await call(who, "POST", `/${id}/files/move`, { source: "d/e/g", destination: "h" })).status).toBe(200);
    expect((await move("/none", "/x")).code).toBe("path_not_found");
    expect((await move("/h", "/d")).code).toBe("destination_exists");
    expect((await move("/h", "/d", { overwrite: true })).code).toBe("destination_exists");
    expect((await move("/d", "/d/e/x")).code).toBe("invalid_path");
    expect((await move("/d", "/../x")).code).toBe("invalid_path");
    await put(who, id, "other", "?path=/i");
    expect((await move("/h", "/i")).code).toBe("destination_exists");
    expect((await move("/h", "/i", { overwrite: true })).status).toBe("moved");
    expect((await call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 1, file_count: 1 });
    expect((await call(who, "DELETE", `/${id}/files?path=/`)).body.code).toBe("invalid_path");
    expect((await call(who, "DELETE", `/${id}/files?path=/none`)).body.code).toBe("path_not_found");
    expect((await call(who, "DELETE", `/${id}/files?path=d`)).body).toEqual({ status: "deleted", path: "/d" });
    expect((await call(who, "DELETE", `/${id}/files?path=i`)).status).toBe(200);
    expect((await call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 0, file_count: 0 });
  });

  test("links out of the volume are never followed", async () => {
    const who = await newUser();
    const id = await made(who);
    await put(who, id, "x", "?path=/f");
    mkdirSync(hostOf(id, "d"));
    symlinkSync("/etc", hostOf(id, "etc"));
    symlinkSync("../../../..", hostOf(id, "d", "up"));
    for (const path of ["etc/passwd", "d/up/etc/passwd"]) {
      for (const route of [`files/download?path=${path}`, `files/stat?path=${path}`, `files?path=${path}`]) {
        const answer = await call(who, "GET", `/${id}/${route}`);
        expect([route, answer.status]).toEqual([route, answer.body.code === "path_not_found" ? 404 : 422]);
      }
      const moved = await call(who, "POST", `/${id}/files/move`, { from: "f", to: path, overwrite: true });
      expect([404, 422]).toContain(moved.status);
      expect([404, 422]).toContain((await call(who, "DELETE", `/${id}/files?path=${path}`)).status);
    }
    expect(existsSync("/etc/passwd")).toBe(true);
  });
});

describe("attachments", () => {
  const declared = {
    tools: ["svc.attachment.read"],
    spec: { input_schema: { type: "object", properties: { attachments: { type: "array" } } } },
  };
  const service = async () => ({ Authorization: `Bearer ${await at.node.token()}` });

  test("none without a declaration; a wrong size or content is told", async () => {
    const who = await service();
    const { body: file } = await put(who, "chat-attachments", "hello", "", { "X-Filename": "n.txt" });
    const ref = { volume_id: file.volume_id, path: file.path, name: "n.txt", mime_type: "text/plain", size: 5 };
    const undeclared = [
      await at.deploy({ tools: ["svc.attachment.read"], script: [say("x")] }),
      await at.deploy({ ...declared, tools: ["fs.read"], script: [say("x")] }),
    ];
    for (const agent of undeclared) {
      expect(await at.start(agent, { attachments: [ref] })).toMatchObject({
        status: 422,
        body: { code: "attachments_not_declared" },
      });
    }
    const agent = await at.deploy({ ...declared, script: [say("x")] });
    const cases: [Record<string, unknown>, string][] = [
      [{ size: 6 }, "attachment_changed"],
      [{ sha256: "0".repeat(64) }, "attachment_changed"],
      [{ path: "/uploads/none" }, "attachment_not_found"],
      [{ path: "/uploads" }, "attachment_not_found"],
      [{ volume_id: crypto.randomUUID() }, "attachment_not_found"],
      [{ size: 1.5 }, "invalid"],
      [{ size: undefined }, "invalid"],
      [{ path: "/../x" }, "invalid"],
      [{ path: "a\0" }, "invalid"],
      [{ name: "\ud800" }, "invalid"],
      [{ volume_id: "abc" }, "invalid"],
    ];
    for (const [change, code] of cases) {
      const answer = await at.start(agent, { input: {}, attachments: [{ ...ref, ...change }] });
      expect([change, answer.status, answer.body.code, answer.body.issues?.[0]?.code]).toEqual([
        change,
        422,
        "invalid_attachment",
        code,
      ]);
    }
    const many = await at.start(agent, { input: {}, attachments: Array.from({ length: 33 }, () => ref) });
    expect(many.status).toBe(422);
  });

  test("an uploaded reference starts a run that reads it, and nothing else", async () => {
    const who = await service();
    const { body: file } = await put(who, "chat-attachments", "inside", "?path=/in.txt");
    await put(who, "chat-attachments", "other", "?path=/other.txt");
    const { volume_id, path, name, mime_type, size, sha256: digest } = file;
    const read = (given: Record<string, string>) => ["svc.attachment.read", given] as const;
    const agent = await at.deploy({
      ...declared,
      script: [
        calls(
          read({ volume_id, path }),
          read({ volume_id: "chat-attachments", path: "in.txt" }),
          read({ volume_id, path: "/other.txt" }),
          read({ volume_id: crypto.randomUUID(), path }),
        ),
        say("done"),
      ],
    });
    const ref = { volume_id: "chat-attachments", path, name, mime_type, size, sha256: digest };
    const started = await at.start(agent, { input: { day: 1 }, attachments: [ref] });
    expect(started.status).toBe(200);
    const record = await at.ended(started.body.execution_id);
    expect(record.attachments).toEqual([{ ...ref, volume_id }]);
    expect(record.input).toEqual({ day: 1, attachments: [{ ...ref, volume_id }] });
    const [first, second, other, foreign] = record.iterations[0].trajectory;
    expect(JSON.parse(first.result_json)).toEqual({
      content: "inside",
      encoding: "utf-8",
      mime_type: "text/plain",
      size: 6,
      sha256: sha256("inside"),
    });
    expect(second.result_json).toBe(first.result_json);
    expect([other.status, foreign.status]).toEqual(["refused", "refused"]);
    // A retry is given the same files.
    const again = await at.node.call("POST", `/v1/executions/${record.execution_id}/retry`);
    expect(again.status).toBe(200);
    const repeated = await at.ended(again.body.execution_id);
    expect(repeated).toMatchObject({ input: record.input, attachments: record.attachments, status: "completed" });
  });
});

test("a volume as source: mounted, attached while it runs, counted; foreign refused", async () => {
  const who = { Authorization: `Bearer ${await at.node.token()}` };
  const id = await made(who);
  await put(who, id, "given", "?path=/in.txt");
  const options = (source: string, access: string) => ({
    spec: {
      volumes: [{ name: "data", mount_path: "/workspace/data", access_mode: access, source: { volume_id: source } }],
    },
    script: [shell("cat data/in.txt; echo more > data/out.txt; sleep 2"), say("done")],
  });
  const running = await at.launch(options(id, "read-write"));
  await until(() => existsSync(hostOf(id, "out.txt")), { timeoutMs: 20_000, what: "the agent to write" });
  expect((await call(who, "GET", `/${id}`)).body.status).toBe("attached");
  expect(await call(who, "DELETE", `/${id}`)).toMatchObject({ status: 409, body: { code: "volume_attached" } });
  const record = await at.ended(running);
  expect(JSON.parse(record.iterations[0].trajectory[0].result_json).stdout).toBe("given");
  await until(async () => (await call(who, "GET", `/${id}`)).body.used_bytes === 10, {
    what: "what it wrote to be counted",
  });
  const reader = await at.run(options(id, "read-only"));
  expect(JSON.parse(reader.iterations[0].trajectory[0].result_json)).toMatchObject({ stdout: "given" });
  expect(JSON.parse(reader.iterations[0].trajectory[0].result_json).stderr).toContain("Read-only");
  const foreign = await made(await newUser());
  const refused = await at.start(await at.deploy(options(foreign, "read-only")));
  expect(refused).toMatchObject({
    status: 422,
    body: { code: "invalid_volume", issues: [{ code: "volume_not_found" }] },
  });
});
