/** Commands in the instance of an execution, asked for by a node that does not have it (docs/reference/gateway.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readCommand } from "../../../../actors/execution/loop/command.ts";
import { type HandsOrder, openHandsWire } from "../../../../src/features/executions/hands/wire.ts";
import { shell } from "../../../harness/manifests.ts";
import { until } from "../../../harness/until.ts";
import { ExecutionFixture } from "../fixture.ts";

let at: ExecutionFixture;
let wire: ReturnType<typeof openHandsWire>;
beforeAll(async () => {
  at = await ExecutionFixture.open();
  wire = openHandsWire(at.stores.redisUrl, at.stores.prefix, crypto.randomUUID());
});
afterAll(async () => {
  wire.close();
  await at.close();
});

const never = new AbortController().signal;

async function running(): Promise<Omit<HandsOrder, "command" | "good_until">> {
  const script = [shell("echo mine > /workspace/note; sleep 300")];
  const executionId = await at.launch({ script, tools: ["*"], resources: { timeout: 300 } });
  const followed = await at.follow(executionId);
  const { instance_id: instanceId } = (await ExecutionFixture.seen(followed, "instance_spawned")).body;
  await ExecutionFixture.seen(followed, "tool_call_started");
  followed.close();
  return { tenant: "svc-system", executionId, instanceId };
}

function command(given: Record<string, unknown>): HandsOrder["command"] {
  const read = readCommand(given);
  if ("issues" in read) throw new Error(JSON.stringify(read.issues));
  return read;
}

test("another node's command runs beside the agent's, and ends with its caller", async () => {
  const order = await running();
  const run = (given: Record<string, unknown>, signal = never) =>
    wire.ask({ ...order, command: command(given), good_until: Date.now() + 5_000 }, signal);
  const note = () => run({ command: "cat note" });
  // The node hears of orders once its subscription stands.
  await until(async () => JSON.stringify(await note()).includes("mine"), {
    timeoutMs: 60_000,
    what: "the agent's note",
  });
  expect(await note()).toMatchObject({
    exit_code: 0,
    stdout: "mine\n",
    stderr: "",
    truncated: false,
    timed_out: false,
  });
  const shown = await run({ command: "env", env_additions: { MODE: "ci" } });
  if (shown === null || shown === "lost") throw new Error("no result");
  expect(shown.stdout).toContain(`SVC_EXECUTION_ID=${order.executionId}`);
  expect(shown.stdout).toContain("MODE=ci");
  expect(shown.stdout).not.toMatch(/EXECUTION_TOKEN|\/x\//);
  // One that a frozen node would take late: its caller has been told otherwise, and policy may be another.
  const late = { ...order, command: command({ command: "touch /workspace/late" }), good_until: Date.now() - 1_000 };
  expect(await wire.ask(late, never)).toBe(null);
  expect(await run({ command: "ls", args: ["/workspace/late"] })).toMatchObject({ exit_code: 2 });
  expect(await run({ command: "a b", args: [] })).toMatchObject({ exit_code: 127 });
  expect(await run({ command: "sleep 60", timeout_secs: 1 })).toMatchObject({ exit_code: -1, timed_out: true });
  const left = new AbortController();
  const tag = `61${Math.floor(Math.random() * 1e6)}`;
  const asked = run({ command: `sleep ${tag}` }, left.signal);
  asked.catch(() => {});
  const seen = async () => {
    const found = await run({ command: "ps", args: ["-ef"] });
    return found !== null && found !== "lost" && found.stdout.includes(`sleep ${tag}`);
  };
  await until(seen, { what: "the command to run" });
  left.abort(new Error("left"));
  expect(asked).rejects.toThrow("left");
  await until(async () => !(await seen()), { what: "the command to end with its caller" });
}, 120_000);

test("without an instance no node takes the order", async () => {
  const order = { tenant: "svc-system", executionId: crypto.randomUUID(), instanceId: crypto.randomUUID() };
  expect(
    await wire.ask({ ...order, command: command({ command: "true" }), good_until: Date.now() + 5_000 }, never),
  ).toBe(null);
}, 30_000);
