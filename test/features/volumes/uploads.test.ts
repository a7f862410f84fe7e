/** Uploads into volumes: every form of them, their quotas, and attachments, which refer to them (docs/reference/volumes.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { calls, say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { sha256, VolumeFixture } from "./fixture.ts";

let at: VolumeFixture;
beforeAll(async () => {
  at = await VolumeFixture.open();
});
afterAll(() => at.close());

const form = (...parts: readonly [name: string, value: string | File][]) => {
  const data = new FormData();
  for (const [name, value] of parts) data.append(name, value);
  return data;
};

describe("uploads", () => {
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));

  test("every form stores identical bytes", async () => {
    const who = await at.newUser();
    const id = await at.made(who);
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
      const answer = await at.put(who, id, body, query);
      expect([what, answer.status, answer.body.path]).toEqual([what, 200, path]);
      expect(answer.body).toMatchObject({ volume_id: id, size: 70_000, size_bytes: 70_000, sha256: sha256(bytes) });
      const download = await at.get(who, `/${id}/files/download?path=${path}`);
      expect(sha256(await download.bytes())).toBe(sha256(bytes));
    }
    expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 8 * 70_000, file_count: 8 });
  });

  test("X-Filename and chosen paths are numbered unless equal, explicit ones replaced", async () => {
    const who = await at.newUser();
    const id = await at.made(who);
    const send = async (text: string, name: string) =>
      (await at.put(who, id, text, "", { "X-Filename": name })).body.path;
    expect(await send("a", "gr%C3%BC%C3%9Fe.txt")).toBe("/uploads/grüße.txt");
    expect(await send("a", "n.txt")).toBe("/uploads/n.txt");
    expect(await send("a", "n.txt")).toBe("/uploads/n.txt");
    expect(await send("b", "n.txt")).toBe("/uploads/n-1.txt");
    expect(await send("b", "n.txt")).toBe("/uploads/n-1.txt");
    const long = "l".repeat(251);
    await send("", `${long}.txt`);
    expect(await send("c", `${long}.txt`)).toBe(`/uploads/${long.slice(2)}-1.txt`);
    await at.put(who, id, "replaced", "?path=/uploads/n.txt");
    expect(await (await at.get(who, `/${id}/files/download?path=uploads/n.txt`)).text()).toBe("replaced");
    expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 11, file_count: 5 });
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
    const who = await at.newUser();
    const id = await at.made(who);
    await at.put(who, id, "x", "?path=/file");
    symlinkSync("/tmp", at.hostOf(id, "leak"));
    const answer = await at.put(who, id, "x", query, name === "" ? {} : { "X-Filename": name });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(readdirSync(at.hostOf(id)).sort()).toEqual(["file", "leak"]);
    expect(readdirSync(join(at.node.dataDir, "volumes", ".uploads"))).toEqual([]);
  });

  test("a bad path is refused before the volume is looked for", async () => {
    const foreign = await at.made(await at.newUser());
    const who = await at.newUser();
    for (const path of ["../x", "a/../../b", "a%01b"]) {
      expect((await at.put(who, foreign, "x", `?path=${path}`)).body.code).toBe("invalid_path");
      const listing = await at.call(who, "GET", `/${foreign}/files?path=${path}`);
      expect([listing.status, listing.body.code]).toEqual([422, "invalid_path"]);
      expect((await at.call(who, "DELETE", `/${foreign}/files?path=${path}`)).body.code).toBe("invalid_path");
    }
    expect((await at.put(who, foreign, "x", "?path=/x")).body.code).toBe("volume_not_found");
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
    const who = await at.newUser();
    const answer = await at.put(who, await at.made(who), body, "", { "Content-Type": type });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("60 MiB on free: 413 with a length and without one, no file", async () => {
    const who = await at.newUser("free");
    const id = await at.made(who);
    const piece = new Uint8Array(2 ** 20);
    const whole = new Uint8Array(60 * 2 ** 20);
    expect(await at.put(who, id, whole, "?path=/f")).toMatchObject({
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
    expect((await at.put(who, id, stream, "?path=/f").catch(() => ({ status: 413 }))).status).toBe(413);
    expect((await at.call(who, "GET", `/${id}/files`)).body.count).toBe(0);
    await until(() => readdirSync(join(at.node.dataDir, "volumes", ".uploads")).length === 0, { what: "no drafts" });
  });

  test.each(["without a length", "of a form", "with a length", "of many at once"] as const)(
    "no more than the quota is ever on the disk of an upload %s that is too large",
    async (kind) => {
      const who = await at.newUser();
      const id = await at.made(who, { size_limit_bytes: 2 ** 20 });
      await at.put(who, id, "x".repeat(1000), "?path=/there");
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
        if (kind === "with a length") return at.put(who, id, new Uint8Array(40 * 2 ** 20), `?path=${path}`);
        if (kind !== "of a form") return at.put(who, id, stream(new Uint8Array(1)), `?path=${path}`);
        return at.put(who, id, stream(head), "", { "Content-Type": "multipart/form-data; boundary=b" });
      };
      const paths = kind === "of many at once" ? ["/a", "/b", "/c", "/d"] : ["/a"];
      // The connection may be closed before the client has read the answer.
      const answers = await Promise.all(paths.map((path) => send(path).catch(gone)));
      clearInterval(watch);
      for (const answer of answers) expect(answer).toMatchObject({ status: 402, body: { code: "quota_exceeded" } });
      expect(most).toBeLessThanOrEqual(2 ** 20);
      await until(() => readdirSync(drafts).length === 0, { what: "no drafts" });
      expect((await at.put(who, id, "y".repeat(2 ** 20 - 1000), "?path=/fits")).status).toBe(200);
      expect((await at.put(who, id, "z".repeat(2 ** 20 - 1000), "?path=/fits")).status).toBe(200);
    },
    30_000,
  );

  test("parallel uploads never exceed the limit", async () => {
    const who = await at.newUser();
    const id = await at.made(who, { size_limit_bytes: 1000 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => at.put(who, id, "x".repeat(300), `?path=/f${index}`)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBe(3);
    expect(answers.filter(({ body }) => body.code === "quota_exceeded").length).toBe(17);
    expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 900, file_count: 3 });
    expect((await at.put(who, id, "x".repeat(400), "?path=/f-new")).status).toBe(402);
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
    const { body: file } = await at.put(who, "chat-attachments", "hello", "", { "X-Filename": "n.txt" });
    const ref = { volume_id: file.volume_id, path: file.path, name: "n.txt", mime_type: "text/plain", size: 5 };
    const undeclared = [
      await at.executions.deploy({ tools: ["svc.attachment.read"], script: [say("x")] }),
      await at.executions.deploy({ ...declared, tools: ["fs.read"], script: [say("x")] }),
    ];
    for (const agent of undeclared) {
      expect(await at.executions.start(agent, { attachments: [ref] })).toMatchObject({
        status: 422,
        body: { code: "attachments_not_declared" },
      });
    }
    const agent = await at.executions.deploy({ ...declared, script: [say("x")] });
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
      const answer = await at.executions.start(agent, { input: {}, attachments: [{ ...ref, ...change }] });
      expect([change, answer.status, answer.body.code, answer.body.issues?.[0]?.code]).toEqual([
        change,
        422,
        "invalid_attachment",
        code,
      ]);
    }
    const many = await at.executions.start(agent, { input: {}, attachments: Array.from({ length: 33 }, () => ref) });
    expect(many.status).toBe(422);
  });

  test("an uploaded reference starts a run that reads it, and nothing else", async () => {
    const who = await service();
    const { body: file } = await at.put(who, "chat-attachments", "inside", "?path=/in.txt");
    await at.put(who, "chat-attachments", "other", "?path=/other.txt");
    const { volume_id, path, name, mime_type, size, sha256: digest } = file;
    const read = (given: Record<string, string>) => ["svc.attachment.read", given] as const;
    const agent = await at.executions.deploy({
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
    const started = await at.executions.start(agent, { input: { day: 1 }, attachments: [ref] });
    expect(started.status).toBe(200);
    const record = await at.executions.ended(started.body.execution_id);
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
    const repeated = await at.executions.ended(again.body.execution_id);
    expect(repeated).toMatchObject({ input: record.input, attachments: record.attachments, status: "completed" });
  });
});
