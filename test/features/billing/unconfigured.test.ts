/** docs/reference/billing.md: a service without a payment provider says so, behind the caller and before the body. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { PAYMENT_SECRET_KEY: "" } });
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const routes = [
  ["GET", "prices"],
  ["GET", "subscription"],
  ["GET", "invoices"],
  ["POST", "checkout"],
  ["POST", "portal"],
  ["POST", "seats"],
  ["POST", "preview-tier-change"],
  ["POST", "change-tier"],
] as const;

test("without a bearer 401, with one 501, with a broken body too", async () => {
  const token = await node.token({ username: "ann", sub: "ann", tier: "free" }, "svc-consumer");
  const codeOf = async (method: string, path: string, headers: Record<string, string>) => {
    const body = method === "GET" ? null : "{broken";
    const response = await fetch(`${node.url}/v1/billing/${path}`, { method, headers, body });
    return `${response.status} ${((await response.json()) as { code: string }).code}`;
  };
  for (const [method, path] of routes) {
    expect([path, await codeOf(method, path, {})]).toEqual([path, "401 missing_authorization"]);
    const bearer = { Authorization: `Bearer ${token}`, "Content-Type": "text/plain" };
    expect([path, await codeOf(method, path, bearer)]).toEqual([path, "501 billing_not_configured"]);
  }
});
