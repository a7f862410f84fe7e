/** The client against a real node: what its types say of paths, texts and files, and a stream over a killed node. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { answer, type Client, createClient, type Schemas, yamlBody } from "../../../src/programs/client/client.ts";
import { ApiError } from "../../../src/programs/client/errors.ts";
import { follow } from "../../../src/programs/client/events.ts";
import { items } from "../../../src/programs/client/pages.ts";
import { filledPath } from "../../../src/programs/client/paths.ts";
import { upload } from "../../../src/programs/client/upload.ts";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { scratch } from "../../harness/scratch.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

const root = join(import.meta.dir, "../../..");

let stores: TestStores;
let node: NodeProcess;
let svc: Client;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores);
  svc = createClient({ url: node.url, token: () => node.token() });
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const failureOf = async (call: Promise<unknown>): Promise<ApiError> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`no refusal, but ${error}`);
};

test("manifests as they were written, lists, queries with several values, texts", async () => {
  const { agent_id, name } = (await answer(
    svc.POST("/v1/agents", { ...yamlBody(stringify(manifest({ name: "reader" }))) }),
  )) as Schemas["AgentDeployed"];
  expect(name).toBe("reader");
  const broken = await failureOf(svc.POST("/v1/agents", { ...yamlBody("kind: Agent\nspec: {}\n") }));
  expect([broken.status, broken.issues.length > 0, broken.requestId]).toEqual([422, true, expect.any(String)]);
  const found: string[] = [];
  const query = { label: [], q: "reader", limit: 1 };
  for await (const one of items((cursor) => answer(svc.GET("/v1/agents", { params: { query: { ...query, cursor } } }))))
    found.push(one.id);
  expect(found).toEqual([agent_id]);
  const path = { id: agent_id };
  const text = await answer(
    svc.GET("/v1/agents/{id}", { params: { path }, parseAs: "text", headers: { Accept: "application/yaml" } }),
  );
  expect(text).toContain("name: reader");
  const detail: Schemas["AgentDetail"] = await answer(svc.GET("/v1/agents/{id}", { params: { path } }));
  expect(detail.id).toBe(agent_id);
});

test("paths with slashes, and none that leads elsewhere", async () => {
  const path = "ops/crm.tool/key@1";
  await answer(svc.PUT("/v1/secrets/{path}", { params: { path: { path } }, body: { value: "s" } }));
  expect(await answer(svc.GET("/v1/secrets/{path}", { params: { path: { path } } }))).toMatchObject({ path });
  for (const hostile of ["../volumes/x", "a/./b", "a//b", ""]) {
    expect(() => filledPath("/v1/secrets/{path}", { path: hostile })).toThrow(TypeError);
  }
  expect(() => filledPath("/v1/agents/{id}", { id: ".." })).toThrow(TypeError);
  expect(() => filledPath("/v1/agents/{id}", {})).toThrow(TypeError);
  expect(filledPath("/v1/agents/{id}", { id: "a/$&?#" })).toBe("/v1/agents/a%2F%24%26%3F%23");
});

test("files of volumes: sent with progress, read, and read again only when changed", async () => {
  const volume = await answer(svc.POST("/v1/volumes", { body: { label: "reports" } }));
  const sent: number[] = [];
  const file = new Blob(["line\n".repeat(20_000)]);
  const done = await upload(svc, `/v1/volumes/${volume.id}/files/upload?path=/a/b%20c.txt`, file, {
    onProgress: (bytes) => sent.push(bytes),
  });
  expect([done.path, done.size, sent.at(-1)]).toEqual(["/a/b c.txt", 100_000, 100_000]);
  const download = filledPath("/v1/volumes/{id}/files/download", { id: volume.id });
  const response = await svc.send(`${download}?path=/a/b%20c.txt`);
  expect((await response.text()).length).toBe(100_000);
  const headers = { "If-None-Match": response.headers.get("ETag") ?? "" };
  expect((await svc.send(`${download}?path=/a/b%20c.txt`, { headers })).status).toBe(304);
  const params = { path: { id: volume.id }, query: { path: "/a" } };
  const { items: entries } = await answer(svc.GET("/v1/volumes/{id}/files", { params }));
  expect(entries.map((entry: Schemas["FileEntry"]) => entry.name)).toEqual(["b c.txt"]);
  const refused = await failureOf(upload(svc, `/v1/volumes/${volume.id}/files/upload?path=/../b`, file));
  expect([refused.status, refused.code]).toEqual([422, "invalid_path"]);
});

test("a stream goes on over a killed node, each event once, and ends by itself", async () => {
  // Long enough to be killed in; the file tells that it ran.
  const script = [shell("mkdir -p 'a b'; echo hi > 'a b/c#1.txt'; sleep 2"), say("done")];
  const { agent_id } = (await answer(
    svc.POST("/v1/agents", { ...yamlBody(JSON.stringify(manifest({ name: "sleeper", script }))) }),
  )) as Schemas["AgentDeployed"];
  const path = { id: agent_id };
  const { execution_id } = await answer(
    svc.POST("/v1/agents/{id}/execute", { params: { path }, body: { input: "go" } }),
  );
  const states: string[] = [];
  const ids: number[] = [];
  const names: string[] = [];
  let killed: Promise<void> | null = null;
  const options = { signal: new AbortController().signal, connection: (state: string) => states.push(state) };
  for await (const { id, data } of follow(svc, `/v1/executions/${execution_id}/stream`, options)) {
    ids.push(Number(id));
    names.push(Object.keys(data as object)[0] ?? "");
    killed ??= node.kill().then(() => node.restart());
  }
  await killed;
  expect(names.at(-1)).toBe("execution_completed");
  // The log's own numbers, none of them twice and in their order.
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
  const stored = await answer(svc.GET("/v1/executions/{id}", { params: { path: { id: execution_id } } }));
  expect(stored.status).toBe("completed");
  expect([states[0], states.includes("lost"), states.at(-1)]).toEqual(["open", true, "open"]);
  const file = { id: execution_id, path: "a b/c#1.txt" };
  const text = svc.GET("/v1/executions/{id}/files/{path}", { params: { path: file }, parseAs: "text" });
  expect(await answer(text)).toBe("hi\n");
}, 60_000);

test("the program of the guide runs as it is written", async () => {
  const guide = readFileSync(join(root, "docs/guide/typed-client.md"), "utf8");
  const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(guide) ?? [];
  const folder = scratch("guide");
  symlinkSync(join(root, "src/programs/client"), join(folder, "client"));
  writeFileSync(join(folder, "program.ts"), program);
  writeFileSync(join(folder, "agent.yaml"), stringify(manifest({ name: "guided", script: [say("done")] })));
  const child = Bun.spawn([process.execPath, "program.ts"], {
    cwd: folder,
    env: { ...process.env, SVC_API_URL: node.url, SVC_USER_TOKEN: await node.token() },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [told, complaints] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(complaints).toBe("");
  for (const said of ["started guided", "execution_completed", "guided completed", "13 of 13 bytes", "kept /today.txt"])
    expect(told).toContain(said);
  expect(told).toMatch(/^404 agent_not_found, request \S+$/m);
});
