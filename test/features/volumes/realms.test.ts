/** Volumes belong to a person, who is a subject of a realm (docs/reference/volumes.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores);
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

test("the same subject of another realm has other volumes, in the same tenant too", async () => {
  const bearer = async (fields: Readonly<Record<string, string>>, realm: string) => ({
    Authorization: `Bearer ${await node.token({ sub: "same", ...fields }, realm)}`,
  });
  await node.call("GET", "/v1/volumes", undefined, await bearer({ sub: "owner" }, "tenant-acme"));
  const member = await bearer({ role: "tenant:member" }, "tenant-acme");
  const guest = await bearer({ tenant_id: "acme" }, "svc-consumer");
  const make = (headers: Record<string, string>) =>
    node.call("POST", "/v1/volumes", { label: "papers", size_limit_bytes: 1000 }, headers);
  const { body: theirs } = await make(member);
  const seen = async (headers: Record<string, string>) =>
    (await node.call("GET", "/v1/volumes", undefined, headers)).body;
  expect((await seen(guest)).items).toEqual([]);
  for (const [method, body] of [["GET"], ["PATCH", { label: "mine" }], ["DELETE"]] as const)
    expect((await node.call(method, `/v1/volumes/${theirs.id}`, body, guest)).body.code).toBe("volume_not_found");
  const { status, body: own } = await make(guest);
  expect([status, (await seen(guest)).items.length, (await seen(member)).items.length]).toEqual([201, 1, 1]);
  expect(own.id).not.toBe(theirs.id);
  const chats = async (headers: Record<string, string>) =>
    (await node.call("GET", "/v1/volumes/chat-attachments", undefined, headers)).body.id;
  expect(await chats(guest)).not.toBe(await chats(member));
  // What was stored before realms were is the tenant's own user's.
  await stores.sql`update volumes set owner_realm = null where volume_id = ${theirs.id}`;
  expect((await node.call("GET", `/v1/volumes/${theirs.id}`, undefined, member)).status).toBe(200);
  expect((await node.call("GET", `/v1/volumes/${theirs.id}`, undefined, guest)).status).toBe(404);
});
