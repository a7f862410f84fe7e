/** The two lists: what waits, and what was decided. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { caller, openFixture } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.dispose());

/** A tenant that nobody else in this file has. */
function tenant() {
  const name = `t-${crypto.randomUUID().slice(0, 8)}`;
  const token = caller("ada", { homeTenant: name });
  const get = async (query = "") => (await fixture.call(token, `/v1/human-approvals${query}`)).body;
  const ids = async (query = "") => (await get(query)).items?.map((one: { id: string }) => one.id);
  const open = async (changes: Parameters<typeof fixture.open>[0] = {}) => fixture.open(changes, name);
  const decide = (id: string, verb: string, body: object = {}, by = token) =>
    fixture.call(by, `/v1/human-approvals/${id}/${verb}`, { body });
  return { name, token, get, ids, open, decide };
}

describe("what waits", () => {
  test("is listed oldest first under both names, of the tenant alone", async () => {
    const here = tenant();
    expect(await here.get()).toEqual({ pending_requests: [], items: [], count: 0, next_cursor: null });
    const first = await here.open({ prompt: 'Say "no" to <b>INV-7</b>\n\u2028\u0007' });
    const second = await here.open();
    const listed = await here.get();
    expect(listed.pending_requests).toEqual(listed.items);
    expect(listed).toMatchObject({ count: 2, next_cursor: null, items: [{ id: first.id }, { id: second.id }] });
    expect(listed.items[0].prompt).toBe('Say "no" to <b>INV-7</b>\n\u2028\u0007');
    expect(await tenant().ids()).toEqual([]);
    await here.decide(first.id, "approve");
    expect(await here.ids()).toEqual([second.id]);
  });

  test("comes in pages", async () => {
    const here = tenant();
    const all = [];
    for (let n = 0; n < 5; n++) all.push((await here.open()).id);
    const first = await here.get("?limit=2");
    const second = await here.get(`?limit=2&cursor=${first.next_cursor}`);
    const third = await here.get(`?limit=2&cursor=${second.next_cursor}`);
    const shown = [first, second, third].map(({ items }) => items.map((one: { id: string }) => one.id));
    expect(shown).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
    expect(third.next_cursor).toBeNull();
    expect(await here.ids("?limit=2&offset=3")).toEqual(all.slice(3));
    expect((await here.get("?cursor=nonsense")).code).toBe("validation_failed");
    const forged = Buffer.from(JSON.stringify(["x", "y"])).toString("base64url");
    expect(await here.ids(`?cursor=${forged}`)).toEqual([]);
    expect((await here.get("?limit=501")).code).toBe("validation_failed");
  });

  test("is filtered by execution, workflow and kind", async () => {
    const here = tenant();
    const root = crypto.randomUUID();
    const top = await here.open({ execution_id: root, root_execution_id: root });
    const below = await here.open({ root_execution_id: root, workflow_name: "inner" });
    const fleet = await here.open({ kind: "fleet_run", workflow_name: null });
    expect(await here.ids(`?execution_id=${root}`)).toEqual([top.id]);
    expect(await here.ids(`?execution_id=${root.toUpperCase()}&descendants=true`)).toEqual([top.id, below.id]);
    expect(await here.ids("?workflow_name=inner")).toEqual([below.id]);
    expect(await here.ids("?kind=fleet_run")).toEqual([fleet.id]);
    expect(await here.ids("?kind=workflow&workflow_name=inner")).toEqual([below.id]);
    expect(await here.ids("?execution_id=nobody")).toEqual([]);
    for (const query of ["?kind=other", "?descendants=true", "?workflow_name=a%00b"]) {
      expect((await here.get(query)).code).toBe("validation_failed");
    }
  });

  test("never grows a page beyond what a client can take", async () => {
    const here = tenant();
    const prompt = "p".repeat(1_000_000);
    const all = [];
    for (let n = 0; n < 10; n++) all.push((await here.open({ prompt })).id);
    const first = await here.get();
    expect(first.count).toBeLessThan(10);
    const second = await here.get(`?cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(all);
    expect(second.next_cursor).toBeNull();
  });
});

describe("what was decided", () => {
  test("is listed, the latest decision first, with its events", async () => {
    const here = tenant();
    const bob = caller("bob", { homeTenant: here.name, email: "Bob@Example.com" });
    const one = await here.open();
    const two = await here.open({ workflow_name: "other" });
    const three = await here.open();
    await here.open();
    await here.decide(two.id, "reject", { reason: "no" }, bob);
    await here.decide(one.id, "approve");
    await here.decide(three.id, "approve", {}, bob);
    const listed = await here.get("/history");
    expect(listed.approvals).toEqual(listed.items);
    expect(listed.items).toMatchObject([
      { id: three.id, status: "approved", events: [{ sequence: 1, type: "requested" }, { sequence: 2 }] },
      { id: one.id, decided_by: { sub: "ada" } },
      { id: two.id, status: "rejected", feedback: "no", via: "reject", events: [{}, { type: "rejected" }] },
    ]);
    const full = (await fixture.call(here.token, `/v1/human-approvals/${two.id}/history`)).body;
    expect(full).toEqual(listed.items[2]);

    const found = (query: string) => here.ids(`/history?${query}`);
    expect(await found("status=rejected")).toEqual([two.id]);
    expect(await found("status=approved,rejected&limit=2")).toEqual([three.id, one.id]);
    expect(await found("workflow_name=other")).toEqual([two.id]);
    expect(await found(`execution_id=${one.run}`)).toEqual([one.id]);
    expect(await found("decided_by=bob")).toEqual([three.id, two.id]);
    expect(await found("decided_by=BOB@example.com")).toEqual([three.id, two.id]);
    const { decided_at } = listed.items[1];
    expect(await found(`from=${decided_at}`)).toEqual([three.id, one.id]);
    expect(await found(`to=${decided_at}`)).toEqual([one.id, two.id]);
    const page = await here.get("/history?limit=2");
    expect(await found(`limit=2&cursor=${page.next_cursor}`)).toEqual([two.id]);
  });

  test.each(["status=pending", "status=no", "from=yesterday", "from=0000-01-01", "to=2031-13-01", "decided_by=a%00"])(
    "%s is refused",
    async (query) => {
      expect((await tenant().get(`/history?${query}`)).code).toBe("validation_failed");
    },
  );
});
