/**
 * Floods of three tenants against a node, from a process of their own: what they cost this process does not slow the one
 * that measures. Its settings are its first argument; it ends with SIGTERM, or when the deliveries are accepted.
 */
import { signed } from "../features/stimuli/fixture.ts";
import { type FloodSettings, type FloodSummary, type Kind, secret } from "./floods.ts";

const { kinds, url, internalUrl, token, deliveries, agents, patternAgent } = JSON.parse(
  process.argv[2] ?? "",
) as FloodSettings;
const summary: FloodSummary = { accepted: 0, refused: 0, large: 0, checked: 0, failed: {} };
let isOver = false;

const fail = (what: string) => {
  summary.failed[what] = (summary.failed[what] ?? 0) + 1;
};

/** Sends again what is refused, after a pause, as providers do; most do not look at `Retry-After`. */
async function deliver(source: string, body: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/v1/webhooks/${source}`, {
      method: "POST",
      headers: { "X-Svc-Signature": signed(body, secret), "X-Idempotency-Key": crypto.randomUUID() },
      body,
    });
    await answer.arrayBuffer();
    if (answer.ok || isOver) return;
    if (answer.status !== 503 && answer.status !== 429) fail(`delivery ${answer.status}`);
    summary.refused++;
    await Bun.sleep(100);
  }
}

async function queue(): Promise<void> {
  while (!isOver && summary.accepted < deliveries) {
    summary.accepted++;
    await deliver("queue", `delivery ${summary.accepted}`);
  }
}

/** Deliveries of the largest size. */
async function largeDeliveries(): Promise<void> {
  const body = "x".repeat(1_048_576);
  while (!isOver) await deliver("large", body);
}

/** What the scripted model answers: a command, again and again. */
const script = [{ tool_calls: [{ name: "cmd.run", arguments: { command: "true", args: [] } }] }];

/** An agent whose every command puts out as much as a message may hold. */
async function largeMessages(executionId: string, credential: string): Promise<void> {
  const send = async (message: object) => {
    const answer = await fetch(`${internalUrl}/v1/dispatch-gateway`, {
      method: "POST",
      headers: { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" },
      body: JSON.stringify({ execution_id: executionId, ...message }),
    });
    const reply = (await answer.json()) as { type?: string; dispatch_id?: string };
    if (reply.type === "dispatch") return reply.dispatch_id;
    if (answer.status !== 503 && answer.status !== 429)
      fail(`dispatch ${answer.status} ${JSON.stringify(reply).slice(0, 120)}`);
    await Bun.sleep(200);
    return null;
  };
  const prompt = `Go on.\n\n\`\`\`svc-script\n${JSON.stringify(script)}\n\`\`\`\n`;
  let dispatchId = await send({ type: "generate", iteration_number: 1, model_alias: "default", prompt });
  const stdout = "x".repeat(16_777_216 - 1024);
  while (!isOver && dispatchId !== null) {
    const next = await send({ type: "dispatch_result", dispatch_id: dispatchId, exit_code: 0, stdout });
    if (next === null) return;
    dispatchId = next;
    summary.large++;
  }
}

/** Inputs that a pattern takes exponential time with, where it is not held back. */
async function patterns(): Promise<void> {
  const body = JSON.stringify({ agent_id: patternAgent, input: { a: `${"a".repeat(5000)}!` } });
  while (!isOver) {
    const answer = await fetch(`${url}/v1/executions`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "X-Tenant-Id": "patterns", "Content-Type": "application/json" },
      body,
    });
    await answer.arrayBuffer();
    summary.checked++;
    if (answer.status !== 422 && answer.status !== 429 && answer.status !== 503) fail(`pattern ${answer.status}`);
    if (answer.status !== 422) await Bun.sleep(100);
  }
}

const starts: Record<Kind, () => Promise<void>[]> = {
  queue: () => Array.from({ length: 32 }, queue),
  deliveries: () => Array.from({ length: 2 }, largeDeliveries),
  messages: () => agents.map(([id, credential]) => largeMessages(id, credential)),
  patterns: () => Array.from({ length: 2 }, patterns),
};
const floods = kinds.flatMap((kind) => starts[kind]());
process.on("SIGTERM", () => {
  isOver = true;
  void Promise.race([Promise.allSettled(floods), Bun.sleep(10_000)]).then(() => {
    console.log(JSON.stringify(summary));
    process.exit(0);
  });
});
console.log("begun");
