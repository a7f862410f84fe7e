/** The doctor, a test of a model, samples: what a first page and an operator ask a node (docs/reference/doctor.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { clockCheck, diskCheck, redisMemoryCheck } from "../../../actors/cluster/checks.ts";
import { examine } from "../../../src/features/doctor/service.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

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
const get = (path: string, headers = admin) => node.call("GET", path, undefined, headers);

test("measurements become a word and what to do about it", () => {
  const gib = 1024 ** 3;
  const disk = (free: number) => diskCheck("disk", free * gib, 100 * gib).status;
  expect([disk(50), disk(4), disk(0.4)]).toEqual(["ok", "warn", "fail"]);
  const clock = (skew: number, sure = 0) => clockCheck("clock", "Redis", skew, sure).status;
  expect([clock(900), clock(-5000), clock(31_000), clock(5000, 4500)]).toEqual(["ok", "warn", "fail", "ok"]);
  expect(clockCheck("clock", "Redis", 5000, 0).message).toContain("behind");
  const memory = (used: number, most: number) => redisMemoryCheck("m", used, most).status;
  expect([memory(9, 0), memory(79, 100), memory(80, 100), memory(95, 100)]).toEqual(["ok", "ok", "warn", "fail"]);
});

test("what hangs or throws is a check that failed, and tells nothing of the error", async () => {
  const looks = [
    { name: "hangs", remedy: "restart it", look: () => new Promise<never>(() => {}) },
    { name: "throws", remedy: "mend it", look: () => Promise.reject(new Error("postgres://svc:hunter22@db")) },
  ];
  const { checks } = await examine(looks, Date.now, 20);
  expect(checks.map(({ name, status, remedy }) => [name, status, remedy])).toEqual([
    ["hangs", "fail", "restart it"],
    ["throws", "fail", "mend it"],
  ]);
  expect(JSON.stringify(checks)).not.toContain("hunter22");
});

test("the doctor looks at each part, for operators alone", async () => {
  const { status, body } = await get("/v1/admin/doctor");
  expect(status).toBe(200);
  const names = new Set(body.checks.map(({ name }: { name: string }) => name));
  for (const name of [
    "postgres",
    "redis",
    "clock_postgres",
    "clock_redis",
    "disk_data",
    "storage",
    "sandbox",
    "models",
  ])
    expect([name, names.has(name)]).toEqual([name, true]);
  for (const name of ["issuers", "mail"]) expect([name, names.has(name)]).toEqual([name, true]);
  for (const check of body.checks)
    expect([check.name, check.status === "ok"]).toEqual([check.name, check.remedy === null]);
  const owner = { Authorization: `Bearer ${await node.token({ username: "ann" }, "tenant-acme")}` };
  expect((await get("/v1/admin/doctor", owner)).body.code).toBe("operator_required");
});

test("a model is tested by its alias; one that nothing serves is told as that", async () => {
  const ask = (body: object, headers = admin) => node.call("POST", "/v1/admin/llm/test", body, headers);
  const good = await ask({});
  expect([good.status, good.body.ok, good.body.error]).toEqual([200, true, null]);
  expect((await ask({}, await operator("readonly"))).body.code).toBe("operator_required");
});

test("samples have the manifests that they name, for every signed-in caller", async () => {
  const { status, body } = await get("/v1/samples");
  expect(status).toBe(200);
  expect(body.samples.map(({ id }: { id: string }) => id)).toEqual(["hello-agent", "release-notes", "webhook"]);
  for (const { manifests } of body.items)
    for (const { name, yaml } of manifests) expect(yaml).toContain(`name: ${name}`);
});
