/** Changes of real records on whole nodes (docs/reference/events-stream.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { manifest } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { ChangeFollower } from "./follower.ts";

let stores: TestStores;
let one: NodeProcess;
let other: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  [one, other] = await Promise.all([startNodeProcess(stores), startNodeProcess(stores)]);
});
afterAll(async () => {
  await Promise.all([one?.dispose(), other?.dispose()]);
  await stores?.dispose();
});

const workflow = `apiVersion: svc.dev/v1
kind: Workflow
metadata: { name: asks, version: 1.0.0 }
spec:
  initial_state: ASK
  states:
    ASK:
      kind: Human
      prompt: Release?
      transitions: [{ condition: approved, target: DONE }]
    DONE: { kind: System, command: "true", transitions: [] }
`;

const open = async (node: NodeProcess, token: string, last: string | null = null) =>
  ChangeFollower.open(`${node.url}/v1/events`, token, {}, last);
const has = (follower: ChangeFollower, type: string, id: string, status: string) =>
  until(() => follower.events.find(({ data }) => data.type === type && data.id === id && data.status === status), {
    what: `${type} ${id} ${status} among ${follower.seen}`,
  });

test("agents, executions, runs, approvals and stimuli of one node are told at another", async () => {
  const token = await one.token();
  const follower = await open(other, token);
  const key = await one.call("POST", "/v1/api-keys", { name: "k", scopes: ["approval:read"] });
  const approver = key.status === 201 ? await open(other, key.body.api_key) : null;

  const agent = (await one.call("POST", "/v1/agents", manifest())).body.agent_id as string;
  await has(follower, "agent", agent, "active");
  await one.call("POST", `/v1/agents/${agent}/pause`);
  await has(follower, "agent", agent, "paused");
  await one.call("POST", `/v1/agents/${agent}/resume`);
  await has(follower, "agent", agent, "active");
  const execution = (await one.call("POST", "/v1/executions", { agent_id: agent, input: "x" })).body.execution_id;
  await until(() => follower.events.some(({ data }) => data.type === "execution" && data.id === execution));

  const registered = await one.call("POST", "/v1/workflows", workflow);
  const run = (await one.call("POST", "/v1/workflows/asks/run", { input: {} })).body.execution_id;
  await has(follower, "run", run, "running");
  const approval = (
    await until(() => follower.events.find(({ data }) => data.type === "approval" && data.status === "pending"), {
      what: `an approval; ${registered.status} ${JSON.stringify(registered.body)}`,
    })
  ).data.id;
  await other.call("POST", `/v1/human-approvals/${approval}/approve`, {});
  await has(follower, "approval", approval, "approved");
  await has(follower, "run", run, "completed");

  await one.call("POST", "/v1/stimuli", { source: "here", content: "{}" });
  await until(() => follower.events.some(({ data }) => data.type === "stimulus"), { what: "a stimulus" });
  await one.call("DELETE", `/v1/agents/${agent}`);
  await has(follower, "agent", agent, "deleted");
  for (const revs of Map.groupBy(follower.events, ({ data }) => `${data.type} ${data.id}`).values()) {
    const all = revs.map(({ data }) => data.rev);
    expect(all).toEqual([...new Set(all)].toSorted((a, b) => a - b));
  }
  expect([key.status, new Set(approver?.events.map(({ data }) => data.type))]).toEqual([201, new Set(["approval"])]);
  await one.call("DELETE", `/v1/api-keys/${key.body.id}`);
  await until(() => approver?.ended, { what: "the end of the revoked key's stream" });
  follower.close();
});

test("after its node was killed a follower goes on at another, and nothing comes twice", async () => {
  const token = await one.token();
  const first = await open(one, token);
  const deploy = async (node: NodeProcess, name: string): Promise<string> =>
    (await node.call("POST", "/v1/agents", manifest({ name }))).body.agent_id;
  const before = await deploy(other, "before-the-end");
  await has(first, "agent", before, "active");
  await one.kill();
  await until(() => deploy(other, "while-away").then((id) => id !== undefined));
  const second = await open(other, token, first.lastId);
  const after = await deploy(other, "afterwards");
  await has(second, "agent", after, "active");
  expect(second.seen.includes(`${before} active`)).toBe(false);
  const texts = second.events.filter(({ event }) => event === null).map(({ data }) => `${data.id} ${data.rev}`);
  expect(new Set(texts).size).toBe(texts.length);
  // What the dead node committed last was perhaps told to no follower.
  await until(() => second.seen.includes("gap lost"), { what: "the gap", timeoutMs: 30_000 });
  second.close();
});
