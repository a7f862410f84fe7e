/** The operators' program over messages that wait for another version, beside a running node. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestNode, type TestNode } from "../harness/runtime/runtime.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { operatorProgram } from "./operator-program.ts";

let stores: TestStores;
let node: TestNode;
beforeAll(async () => {
  stores = await freshStores();
  node = await startTestNode(stores);
});
afterAll(async () => {
  await node.stop();
  await stores.dispose();
});

const run = operatorProgram("waiting-messages", () => stores);
const waitingMessages = (...args: readonly string[]) => run(args);

const waiting = async () => (await stores.sql`select 1 from runtime_parked`).length;

/** A message that no node knows, and one behind it. @returns the place of the first */
async function blocked(key: string): Promise<string> {
  const at = { kind: "counter", key, tenant: "acme" };
  await node.runtime.tell(at, "sing", { loud: true });
  await node.runtime.tell(at, "add", { label: key });
  await until(async () => (await waiting()) === 2, { what: "both to wait" });
  const [first] = await stores.sql<{ seq: string }[]>`select seq from runtime_parked order by seq`;
  return first?.seq ?? "";
}

const seen = async (key: string) =>
  ((await node.runtime.read({ kind: "counter", key, tenant: "acme" }))?.state as { seen?: string[] } | undefined)?.seen;

const audited = async (place: string) =>
  (
    await stores.sql<{ action: string }[]>`
      select action from audit_entries where target_id = ${place} and target_type = 'waiting_message'`
  ).map(({ action }) => action);

test("a message is listed, shown and dropped; those behind it go on", async () => {
  expect(await waitingMessages("list")).toEqual({ out: "no waiting messages\n", err: "", code: 0 });
  const place = await blocked("a");
  const lines = (await waitingMessages("list")).out.trim().split("\n");
  expect(lines[0]).toMatch(
    new RegExp(`^${place} {2}\\S+ {2}counter a {2}acme {2}sing {2}\\["message","counter","sing"`),
  );
  expect(lines[1]).toEndWith("add  behind another");
  expect(JSON.parse((await waitingMessages("show", place)).out)).toMatchObject({ place, body: { loud: true } });
  expect(await waitingMessages("drop", place)).toEqual({
    out: "a dead letter now: counter a: sing\n",
    err: "",
    code: 0,
  });
  await until(async () => (await seen("a"))?.join() === "a", { what: "the one behind it" });
  expect(await waiting()).toBe(0);
  expect(await node.runtime.deadLetters.list({})).toMatchObject([{ type: "sing", body: { loud: true } }]);
  expect([...(await stores.sql`select need from runtime_needs`)]).toEqual([]);
  expect(await audited(place)).toEqual(["waiting_message.dropped"]);
  expect(await waitingMessages("drop", place)).toMatchObject({ code: 1, err: `No message waits at ${place}\n` });
});

test("a message is tried again, in its order", async () => {
  const place = await blocked("b");
  // As if this version knew it by now.
  await stores.sql`update runtime_parked set content = replace(content, '"sing"', '"release"') where seq = ${place}`;
  expect((await waitingMessages("retry", place)).out).toBe("to be tried again: counter b: release\n");
  await until(async () => (await seen("b"))?.join() === "b", { what: "both to be taken" });
  expect(await waiting()).toBe(0);
  expect(await audited(place)).toEqual(["waiting_message.retried"]);
});

test("unknown places and wrong usage are told, and --help says all of it", async () => {
  for (const unknown of ["9999", "nonsense"])
    expect(await waitingMessages("show", unknown)).toMatchObject({ code: 1, err: `No message waits at ${unknown}\n` });
  expect(await waitingMessages("drop")).toMatchObject({ code: 2, err: expect.stringContaining("usage:") });
  expect(await waitingMessages("--help")).toMatchObject({ code: 0, out: expect.stringContaining("retry <place>") });
});
