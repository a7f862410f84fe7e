/** Dead letters as operators see them and send them again (docs/reference/dead-letters.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
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
const path = "/v1/admin/dead-letters";
const get = (query: string, headers = admin) => node.call("GET", `${path}${query}`, undefined, headers);

/** One that a node of the service left behind, or one with a body of the test's. */
async function letter(fields: {
  readonly tenant?: string;
  readonly kind?: string;
  readonly type?: string;
  readonly body?: object;
  readonly at?: string;
}) {
  const id = crypto.randomUUID();
  const { tenant = "acme", kind = "execution", type = "unheard_of", body = {}, at = "2031-01-01T00:00:00Z" } = fields;
  await stores.sql`
    insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts, created_at)
    values (${id}, 0, ${kind}, ${id}, ${tenant}, 'm', ${type}, ${JSON.stringify(body)},
      'it broke at postgres://svc:hunter22@db/svc', 3, ${at}::text::timestamptz)`;
  return id;
}

test("a list is paged to the microsecond and narrowed; bodies stay out of it", async () => {
  const made: string[] = [];
  // Within one millisecond.
  for (let index = 0; index < 5; index++) made.push(await letter({ at: `2031-01-01T00:00:00.00010${index}Z` }));
  const other = await letter({ tenant: "globex", kind: "approval", at: "2030-01-01T00:00:00Z" });
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body } = await get(`?limit=2&cursor=${cursor}`);
    expect(body.dead_letters).toEqual(body.items);
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor;
  }
  expect(seen).toEqual([...made.reverse(), other]);
  const narrowed = async (query: string) => (await get(query)).body.items.map(({ id }: { id: string }) => id);
  expect(await narrowed("?tenant_id=globex")).toEqual([other]);
  expect(await narrowed("?kind=approval")).toEqual([other]);
  expect(await narrowed("?since=2030-06-01T00:00:00Z")).toEqual(made);
  expect(await narrowed("?tenant_id=nobody")).toEqual([]);
  const { items } = (await get("?tenant_id=globex")).body;
  expect(Object.keys(items[0]).sort()).toEqual(
    "attempts created_at error id key kind message replayed_at tenant_id".split(" "),
  );
  const wrong = await get("?since=yesterday");
  expect([wrong.status, wrong.body.code]).toEqual([422, "validation_failed"]);
  const forged = Buffer.from(JSON.stringify(["1; drop table x", "x"])).toString("base64url");
  expect((await get(`?cursor=${forged}`)).body.items).toEqual([]);
});

test("one letter shows its body without what looks like a secret", async () => {
  const secret = {
    headers: { Authorization: "Bearer abcdefghijkl" },
    note: "key sk-0123456789abcdef0123",
    n: [1, null],
  };
  const { status, body } = await get(`/${await letter({ body: secret })}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    tenant_id: "acme",
    message: "unheard_of",
    error: "it broke at postgres://svc:[redacted]@db/svc",
    attempts: 3,
    replayed_at: null,
    body: { headers: { Authorization: "[redacted]" }, note: "key [redacted]", n: [1, null] },
  });
  expect(JSON.stringify(body)).not.toMatch(/abcdefghijkl|0123456789|hunter22/);
  for (const id of [crypto.randomUUID(), "nonsense"]) {
    const answer = await get(`/${id}`);
    expect([answer.status, answer.body.code]).toEqual(
      id === "nonsense" ? [400, "invalid_id"] : [404, "dead_letter_not_found"],
    );
  }
});

test("a letter is sent again once, by operators who may write, and that is on record", async () => {
  const id = await letter({ type: "cancel", body: { reason: 7 } });
  const replay = (headers: Headers, which = id) => node.call("POST", `${path}/${which}/replay`, undefined, headers);
  const refused = await replay(await operator("readonly"));
  expect([refused.status, refused.body.code]).toEqual([403, "operator_required"]);
  const answers = await Promise.all([replay(admin), replay(await operator("operator"))]);
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
  expect(answers.find(({ status }) => status === 202)?.body).toMatchObject({ id, status: "replayed" });
  expect(answers.find(({ status }) => status === 409)?.body.code).toBe("already_replayed");
  // No actor knows the message, so that it comes back as a letter of its own.
  const isNew = ({ key, error }: { key: string; error: string }) => key === id && !error.startsWith("it broke");
  await until(async () => (await get("?tenant_id=acme&kind=execution")).body.items.some(isNew), {
    what: "the message to be handled again",
  });
  expect((await get(`/${id}`)).body.replayed_at).not.toBeNull();
  const log = await node.call("GET", "/v1/admin/audit?tenant_id=acme&action=dead_letter", undefined, admin);
  expect(
    log.body.items.map(({ target, actor }: { target: object; actor: { kind: string } }) => [target, actor.kind]),
  ).toEqual([[{ type: "dead_letter", id }, "operator"]]);
  const damaged = await replay(admin, await letter({ kind: "" }));
  expect([damaged.status, damaged.body.code]).toEqual([409, "invalid_state"]);
  expect((await replay(admin, crypto.randomUUID())).body.code).toBe("dead_letter_not_found");
});

test("callers who are no operators of the platform are refused", async () => {
  const id = await letter({});
  const owner = { Authorization: `Bearer ${await node.token({ username: "ann" }, "tenant-acme")}` };
  const machine = { client_id: "svc-service", client_secret: "svc-service-secret" };
  const service = { Authorization: `Bearer ${await node.token(machine)}` };
  for (const headers of [owner, service]) {
    for (const [method, way] of [
      ["GET", ""],
      ["GET", `/${id}`],
      ["POST", `/${id}/replay`],
    ] as const) {
      const { status, body } = await node.call(method, `${path}${way}`, undefined, headers);
      expect([method, way, status, body.code]).toEqual([method, way, 403, "operator_required"]);
    }
  }
});
