/** All that is kept of a tenant as an archive (docs/reference/tenants.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { extract } from "tar-stream";
import { archive } from "../../../src/features/tenant-export/archive.ts";
import { manifest, say } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let node: NodeProcess;
let admin: Headers;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores);
  admin = await operator("admin");
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

type Headers = Readonly<Record<string, string>>;
const operator = async (username: string): Promise<Headers> => {
  const form = { grant_type: "password", username, password: "dev", client_id: "", client_secret: "" };
  return { Authorization: `Bearer ${await node.token(form)}` };
};
const path = (slug: string) => `/v1/admin/tenants/${slug}/export`;

/** Entries of an archive by name. */
async function unpacked(bytes: AsyncIterable<Uint8Array>): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const entry of Readable.from(bytes).pipe(extract())) {
    const pieces: Buffer[] = [];
    for await (const piece of entry) pieces.push(piece as Buffer);
    files.set(entry.header.name, Buffer.concat(pieces));
  }
  return files;
}

/** Makes records of a tenant. @returns what must not leave */
async function settle(tenant: string, word: string): Promise<readonly string[]> {
  const headers = {
    Authorization: `Bearer ${await node.token({ username: "ann", email: `ann@${tenant}.test` }, `tenant-${tenant}`)}`,
  };
  const made = async (method: string, way: string, body?: unknown) => {
    const answer = await node.call(method, way, body, headers);
    if (answer.status >= 300) throw new Error(`${method} ${way}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const agent = manifest({ name: `${word}-agent`, script: [say(word)], runtime: { bootstrap_path: undefined } });
  const { agent_id } = await made("POST", "/v1/agents", agent);
  await made("POST", "/v1/executions?wait_seconds=30", { agent_id, input: { words: [word, "<b>\n"] } });
  const secret = `value-of-${crypto.randomUUID()}`;
  await made("PUT", "/v1/secrets/build/key", { value: secret });
  const { key } = await made("POST", "/v1/api-keys", { name: word });
  const credential = `credential-${crypto.randomUUID()}`;
  await made("POST", "/v1/credentials/api-key", { provider: "github", label: word, value: credential });
  const route = await made("POST", "/v1/stimulus-routes", { source: `${word}-source`, description: word });
  const { id } = await made("POST", "/v1/volumes", { label: word });
  await made("POST", `/v1/volumes/${id}/files/upload?path=deep/er/${encodeURIComponent("näme ✓.txt")}`, word);
  return [secret, key, credential, ...(typeof route.secret === "string" ? [route.secret] : [])];
}

test("an export has the tenant's records and files, no other tenant's, and no secret", async () => {
  const hidden = await settle("acme", "quokka");
  await settle("globex", "walrus");
  const answer = await fetch(node.url + path("acme"), { headers: admin });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/x-tar"]);
  expect(answer.headers.get("content-disposition")).toContain('filename="acme.tar"');
  const whole = Buffer.from(await answer.arrayBuffer());
  const files = await unpacked(Readable.from([whole]));
  const lines = (name: string) =>
    (files.get(`records/${name}.jsonl`)?.toString() ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  expect(lines("agents")).toMatchObject([{ name: "quokka-agent", status: "active" }]);
  expect(lines("agents")[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(lines("executions")).toMatchObject([
    { status: "completed", input: { words: ["quokka", "<b>\n"] }, output: "quokka" },
  ]);
  expect(lines("executions")[0].iterations).toHaveLength(1);
  expect(lines("secrets")).toMatchObject([{ path: "build/key" }]);
  expect(lines("api_keys")).toMatchObject([{ name: "quokka" }]);
  expect(lines("credentials")).toMatchObject([{ label: "quokka", provider: "github" }]);
  expect(lines("tenants")).toMatchObject([{ slug: "acme" }]);
  expect(lines("users")).toMatchObject([{ email: "ann@acme.test" }]);
  expect(lines("audit_entries").map(({ action }) => action)).toContain("agent.deployed");
  const [file] = [...files].filter(([name]) => name.startsWith("volumes/"));
  expect([file?.[0].split("/").slice(2).join("/"), file?.[1].toString()]).toEqual(["deep/er/näme ✓.txt", "quokka"]);
  const [first, last] = ["export.json", "end.json"].map((name) => JSON.parse(files.get(name)?.toString() ?? ""));
  expect(first).toMatchObject({ format: "svc.tenant-export/1", tenant_id: "acme" });
  expect([...files.keys()].at(-1)).toBe("end.json");
  expect(last).toMatchObject({ files: 1, flaws: [], counts: { agents: 1, executions: 1 } });
  const text = whole.toString("latin1");
  expect(text).not.toContain("walrus");
  expect(hidden.filter((value) => text.includes(value))).toEqual([]);
  expect(readdirSync(join(node.dataDir, "exports"))).toEqual([]);
  const log = await node.call("GET", "/v1/admin/audit?tenant_id=acme&action=tenant.exported", undefined, admin);
  expect(log.body.items).toMatchObject([{ target: { type: "tenant", id: "acme" }, actor: { kind: "operator" } }]);
});

test("only admins of the platform export; tenants that are not there are not found", async () => {
  const owner = { Authorization: `Bearer ${await node.token({ username: "ann" }, "tenant-acme")}` };
  for (const headers of [owner, await operator("operator"), await operator("readonly")]) {
    const { status, body } = await node.call("GET", path("acme"), undefined, headers);
    expect([status, body.code]).toEqual([403, "operator_required"]);
  }
  const unknown = await node.call("GET", path("nobody"), undefined, admin);
  expect([unknown.status, unknown.body.code]).toEqual([404, "tenant_not_found"]);
  const wrong = await node.call("GET", path("No_Slug"), undefined, admin);
  expect([wrong.status, wrong.body.code]).toEqual([400, "invalid_tenant_slug"]);
});

test("a reader who leaves ends the export, and others may begin", async () => {
  for (let round = 0; round < 5; round++) {
    const leaving = new AbortController();
    const answer = await fetch(node.url + path("acme"), { headers: admin, signal: leaving.signal });
    expect(answer.status).toBe(200);
    await answer.body?.getReader().read();
    leaving.abort();
    const again = await until(
      async () => {
        const other = await fetch(node.url + path("globex"), { headers: admin });
        await other.arrayBuffer();
        return other.status === 200;
      },
      { what: "room for another export" },
    );
    expect(again).toBe(true);
  }
});

const pieces = async function* (count: number, size: number) {
  for (let index = 0; index < count; index++) yield new Uint8Array(size).fill(index);
};

test("an archive is made as it is read, and what became shorter is filled and told", async () => {
  let made = 0;
  const whole: boolean[] = [];
  const bytes = archive(async (add) => {
    for (let index = 0; index < 50; index++) {
      const content = async function* () {
        made += 1;
        yield* pieces(4, 64 * 1024);
      };
      await add({ name: `big/${index}`, size: 4 * 64 * 1024, modifiedMs: 0, content });
    }
    for (const length of [10, 5, 0, 20]) {
      const content = () => pieces(1, length);
      whole.push((await add({ name: `small/${length}`, size: 10, modifiedMs: 0, content })).isWhole);
    }
  }, new AbortController().signal);
  const { value: first } = await bytes.next();
  // Nothing of what comes later was made while its reader waited.
  expect(made).toBeLessThan(3);
  const all = async function* () {
    yield first ?? new Uint8Array();
    yield* bytes;
  };
  const files = await unpacked(all());
  expect(made).toBe(50);
  expect(whole).toEqual([true, false, false, true]);
  expect(files.get("small/5")).toEqual(Buffer.alloc(10));
  expect([...files.values()].every((content) => content.length === 10 || content.length === 262_144)).toBe(true);
});

test("an archive that fails or is broken off ends with an error", async () => {
  const read = async (bytes: AsyncIterable<Uint8Array>) => {
    for await (const _ of bytes);
  };
  const failing = archive(() => Promise.reject(new Error("no table")), new AbortController().signal);
  await expect(read(failing)).rejects.toThrow("no table");
  const stop = new AbortController();
  const stopped = archive(async (add) => {
    for (;;) await add({ name: "x", size: 100_000, modifiedMs: 0, content: () => pieces(2, 50_000) });
  }, stop.signal);
  await stopped.next();
  stop.abort();
  await expect(read(stopped)).rejects.toThrow("broken off");
});
