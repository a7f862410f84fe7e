/**
 * The service as a tool server, on two nodes that every test here shares: each request of a client goes to another one
 * (docs/reference/mcp.md).
 */
import { afterAll, beforeAll, expect } from "bun:test";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { conformanceTests } from "./conformance.ts";
import type { Deploy } from "./fixture.ts";
import { pipeTests } from "./pipe.ts";
import { toolTests } from "./tools.ts";
import { transportTests } from "./transport.ts";
import { waitingTests } from "./waiting.ts";

let stores: TestStores;
let nodes: readonly NodeProcess[];
beforeAll(async () => {
  stores = await freshStores();
  const env = { SVC_CORS_ORIGINS: "https://app.test" };
  const first = await startNodeProcess(stores, { env });
  nodes = [first, await startNodeProcess(stores, { dataDir: first.dataDir, env })];
  const inputSchema = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };
  await deploy({
    name: "speaker",
    script: [shell("echo working"), say("spoken")],
    spec: { input_schema: inputSchema },
  });
  await deploy({ name: "sleeper", script: [shell("sleep 120"), say("awake")] });
  await deploy({ name: "failing", script: [{ error: "no" }] });
  await first.call("POST", "/v1/workflows", workflow("asker"));
}, 120_000);
afterAll(async () => {
  for (const one of nodes ?? []) await one.dispose();
  await stores?.dispose();
}, 60_000);

const deploy: Deploy = async (options, query = "", headers = {}) => {
  const answer = await nodes[0]?.call("POST", `/v1/agents${query}`, manifest(options), headers);
  expect([answer?.status, answer?.body.code]).toEqual([200, undefined]);
  return answer?.body;
};
const workflow = (name: string) => ({
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name, description: `Asks as ${name}` },
  spec: {
    initial_state: "ASK",
    states: {
      ASK: { kind: "Human", prompt: "?", timeout: "1h", transitions: [{ target: "DONE" }] },
      DONE: { kind: "System", command: "noop", transitions: [] },
    },
  },
});

const all = () => nodes;
transportTests(all, deploy);
toolTests(all, deploy, () => stores.sql);
waitingTests(all);
pipeTests(all);
conformanceTests(all);
