/** Groups of hosts, and which hosts selectors mean (docs/reference/edge.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type LabelTerm, readSelector, type Selector, type TagTerm } from "../../../actors/edge/selector.ts";
import { groupRecords } from "../../../src/features/edge/groups/records.ts";
import { EdgeFixture, type Headers, told } from "./fixture.ts";

let at: EdgeFixture;
let ann: Headers;
let zoe: Headers;
beforeAll(async () => {
  at = await EdgeFixture.open();
  ann = await at.user("acme", "ann");
  zoe = await at.user("zeta", "zoe");
  for (const headers of [ann, zoe]) await at.node.call("GET", "/v1/agents", undefined, headers);
});
afterAll(() => at?.close());

const group = async (body: object, headers = ann) => (await at.call("POST", "groups", headers, body)).body;
const names = (body: { resolved_members: readonly { name: string }[] }) =>
  body.resolved_members.map(({ name }) => name);

test("a group has what its selector means and what is pinned, as it is now", async () => {
  const [web, api, db] = await Promise.all(
    ["web", "api", "db"].map((name) => at.host(ann, { name, tags: [name, "all"] })),
  );
  const other = await at.host(zoe, { name: "web", tags: ["web", "all"] });
  const made = await group({
    name: " front ",
    selector: { tags: { any_of: ["web", "api"] } },
    pinned_members: [db?.id],
  });
  expect(made).toMatchObject({
    name: "front",
    tenant_id: "acme",
    selector: { os: null, arch: null, tools: [], labels: [], tags: [{ AnyOf: ["web", "api"] }] },
    pinned_members: [db?.id],
    resolved_member_count: 3,
  });
  const one = async () => (await at.call("GET", `groups/${made.id}`, ann)).body;
  expect(names(await one())).toEqual(["api", "db", "web"]);
  await at.call("DELETE", `hosts/${db?.id}`, ann);
  await at.call("POST", `hosts/${api?.id}/tags`, ann, { remove: ["api"] });
  expect(await one()).toMatchObject({ pinned_members: [], resolved_member_count: 1 });
  expect(names(await one())).toEqual(["web"]);
  for (const member of [other.id, db?.id, crypto.randomUUID()])
    expect(told(await at.call("PATCH", `groups/${made.id}`, ann, { pinned_members: [member] }))).toEqual([
      422,
      "validation_failed",
    ]);
  const sizes = await Promise.all([undefined, null, {}].map((selector, nth) => group({ name: `s${nth}`, selector })));
  expect(sizes.map(({ resolved_member_count }) => resolved_member_count)).toEqual([0, 0, 2]);
  const list = (await at.call("GET", "groups", ann)).body;
  expect(list.groups.map(({ name, resolved_member_count: of }: Record<string, unknown>) => [name, of])).toEqual([
    ["front", 1],
    ["s0", 0],
    ["s1", 0],
    ["s2", 2],
  ]);
  const changed = await at.call("PATCH", `groups/${made.id}`, ann, {
    selector: null,
    pinned_members: [web?.id, api?.id],
  });
  expect([changed.body.selector, changed.body.resolved_member_count]).toEqual([null, 2]);
});

test("names are unique in a tenant, also when made at once; a repeat is one group", async () => {
  const made = await Promise.all(Array.from({ length: 4 }, () => at.call("POST", "groups", ann, { name: "once" })));
  expect(made.map(told).sort()).toEqual([
    [200, undefined],
    [409, "conflict"],
    [409, "conflict"],
    [409, "conflict"],
  ]);
  expect((await at.call("POST", "groups", zoe, { name: "once" })).status).toBe(200);
  const { id } = await group({ name: "twice" });
  expect(told(await at.call("PATCH", `groups/${id}`, ann, { name: "once" }))).toEqual([409, "conflict"]);
  expect((await at.call("PATCH", `groups/${id}`, ann, { name: "twice" })).status).toBe(200);
  const keyed = { ...ann, "Idempotency-Key": crypto.randomUUID() };
  const [first, again] = [await group({ name: "keyed" }, keyed), await group({ name: "keyed" }, keyed)];
  expect(again).toEqual(first);
  expect((await at.call("DELETE", `groups/${first.id}`, ann)).status).toBe(204);
  expect(told(await at.call("DELETE", `groups/${first.id}`, ann))).toEqual([404, "group_not_found"]);
});

test("a misspelt selector, a missing scope and a foreign id are refused", async () => {
  expect(told(await at.call("POST", "groups", ann, { name: "g", selector: { tag: ["web"] } }))).toEqual([
    422,
    "validation_failed",
  ]);
  const { id } = await group({ name: "own", selector: { tags: ["all"] } });
  const bob = await at.user("acme", "bob", { role: "tenant:member" });
  const routes: readonly (readonly [string, string, unknown])[] = [
    ["POST", "groups", { name: "x" }],
    ["PATCH", `groups/${id}`, { name: "x" }],
    ["DELETE", `groups/${id}`, undefined],
  ];
  for (const [method, path, body] of routes) {
    const answer = await at.call(method, path, bob, body);
    expect([...told(answer), answer.body.required]).toEqual([403, "insufficient_scope", "aegis.edge.groups.write"]);
    if (path.includes("/")) expect(told(await at.call(method, path, zoe, body))).toEqual([404, "group_not_found"]);
  }
  expect((await at.call("GET", `groups/${id}`, bob)).body.name).toBe("own");
  expect(told(await at.call("GET", `groups/${id}`, zoe))).toEqual([404, "group_not_found"]);
});

const letter: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", '"', "é\\");
const letters = fc.array(letter, { maxLength: 3 });
const facts = fc.record({
  os: fc.constantFrom("linux", "macos", null),
  arch: fc.constantFrom("x86_64", "aarch64", null),
  tools: letters,
  tags: letters,
  labels: fc.dictionary(letter, letter, { maxKeys: 3 }),
});
type Facts = typeof facts extends fc.Arbitrary<infer T> ? T : never;
const selectors = fc.record(
  {
    os: fc.constantFrom("linux", "macos"),
    arch: fc.constantFrom("x86_64", "aarch64"),
    tools: fc.array(letter, { maxLength: 1 }),
    labels: fc.array(
      fc.oneof(
        fc.tuple(letter, letter).map((pair) => ({ Equals: pair })),
        letter.map((key) => ({ Exists: key })),
        fc.tuple(letter, letters).map((pair) => ({ In: pair })),
      ),
      { maxLength: 2 },
    ),
    tags: fc.array(
      fc.oneof(...["AnyOf", "AllOf", "NoneOf"].map((kind) => letters.map((tags) => ({ [kind]: tags }))), letter),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);

/** What the page says, plainly. */
function means({ os, arch, tools, labels, tags }: Selector, host: Facts): boolean {
  const label = (term: LabelTerm) => {
    if ("Exists" in term) return Object.hasOwn(host.labels, term.Exists);
    if ("Equals" in term) return Object.entries(term.Equals).every(([key, value]) => host.labels[key] === value);
    return Object.entries(term.In).every(([key, values]) => values.includes(host.labels[key] ?? "?"));
  };
  const tag = (term: TagTerm) => {
    if ("Has" in term) return host.tags.includes(term.Has);
    if ("AnyOf" in term) return term.AnyOf.some((one) => host.tags.includes(one));
    if ("AllOf" in term) return term.AllOf.every((one) => host.tags.includes(one));
    return !term.NoneOf.some((one) => host.tags.includes(one));
  };
  const isPlatform = (os === null || os === host.os) && (arch === null || arch === host.arch);
  return isPlatform && tools.every((one) => host.tools.includes(one)) && labels.every(label) && tags.every(tag);
}

test("a selector means just the hosts for which all of it holds", async () => {
  const { sql } = at.stores;
  const hosts = fc.sample(facts, 60).map((host) => ({ ...host, id: crypto.randomUUID() }));
  for (const { id, os, arch, tools, tags, labels } of hosts) {
    await sql`
      insert into edge_hosts (id, tenant, name, created_by, os, arch, tools, tags, labels)
      values (${id}, 'models', ${id}, 'test', ${os}, ${arch}, ${tools}, ${tags}, ${JSON.stringify(labels)}::text::jsonb)`;
  }
  const records = groupRecords(sql);
  const row = { id: crypto.randomUUID(), tenant: "models", name: "g", created_by: "", pinned: [] };
  const times = { created_at: new Date(), updated_at: new Date() };
  await fc.assert(
    fc.asyncProperty(selectors, async (written) => {
      const selector = readSelector(written, "selector");
      const members = await records.members({ ...row, ...times, selector });
      const wanted = hosts.filter((host) => means(selector, host)).map(({ id }) => id);
      expect(members.map(({ id }) => id).sort()).toEqual(wanted.sort());
    }),
    { numRuns: 300 },
  );
});
