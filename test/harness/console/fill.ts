/**
 * Fills a tenant with what a console shows after some months of work: agents and executions of every state, workflows
 * with runs that wait, deliveries, hosts, secrets, letters. Over the routes alone, as its people would.
 */
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { enrollmentMessage } from "../../../actors/edge/signing.ts";
import { publicHalf, signed } from "../../actors/edge/vectors.ts";
import { ScriptedDaemon } from "../edge/scripted-daemon.ts";
import type { LooseJson } from "../loose-json.ts";
import { until } from "../until.ts";
import { agents, approvalWorkflow, failingWorkflow, longWorkflowName } from "./manifests.ts";

/** One call by the person whose tenant is filled; texts are YAML. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly body: LooseJson }>;

/** Ids of records, by what a page of the console is named after. */
export interface Filled {
  readonly agent: string;
  readonly execution: {
    readonly completed: string;
    readonly failed: string;
    readonly running: string;
    readonly waiting: string;
  };
  readonly run: { readonly waiting: string; readonly failed: string; readonly timer: string; readonly mapped: string };
  readonly workflow: string;
  readonly approval: string;
  readonly stimulus: string;
  readonly source: string;
  readonly host: string;
  readonly group: string;
  readonly fleetRun: string;
  readonly volume: string;
  readonly credential: string;
  /** Closes the links of the hosts. */
  readonly close: () => void;
}

const samples = join(import.meta.dir, "../../../src/features/workflows/sample");
const sample = (name: string) => readFileSync(join(samples, `${name}.yaml`), "utf8");

/** @param rows how many finished executions and deliveries there are at least */
export async function fillTenant(url: string, call: Call, rows = 12): Promise<Filled> {
  const made = async (method: string, path: string, body?: unknown): Promise<LooseJson> => {
    const answer = await call(method, path, body);
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 600)}`);
    return answer.body;
  };
  const post = (path: string, body: unknown = {}) => made("POST", path, body);

  const byName = new Map<string, string>();
  await Promise.all(
    Object.entries(agents).map(async ([name, manifest]) => {
      byName.set(name, (await post("/v1/agents", manifest)).agent_id);
    }),
  );
  const agentId = (name: keyof typeof agents) => byName.get(name) ?? "";
  await post("/v1/agents", agents.releaser.replace('version: "1.0.0"', 'version: "1.1.0"'));
  await post("/v1/agents", sample("agents/ticket-triager"));
  const begin = async (name: keyof typeof agents, input: unknown, labels?: object): Promise<string> =>
    (await post(`/v1/agents/${agentId(name)}/execute`, { input, ...(labels === undefined ? {} : { labels }) }))
      .execution_id;
  const running = await begin("watcher", "Watch the queue");
  const waiting = await begin("releaser", "Release 2.4 to everybody");
  const failed = await begin("checker", "Summarise the incident of last night", { team: "support", env: "prod" });
  const completed = await begin("summarizer", { topic: "The week in numbers", words: 200 });
  await Promise.all(
    Array.from({ length: rows }, (_, row) =>
      begin(row % 7 === 3 ? "checker" : "summarizer", `Summarise ticket ${1_000 + row}`),
    ),
  );
  const cancelled = await begin("watcher", "Watch the other queue");
  await post(`/v1/executions/${cancelled}/cancel`, { reason: "No longer needed" });

  // One after the other: a Map names the workflow of its items.
  const workflows = ["order-saga", "on-stimulus", "triage-ticket", "triage-map", "nightly-report"].map(sample);
  for (const text of [approvalWorkflow, failingWorkflow, ...workflows]) await post("/v1/workflows", text);
  const start = async (name: string, input: object): Promise<string> =>
    (await post(`/v1/workflows/${name}/run`, { input })).execution_id;
  const waitingRun = await start(longWorkflowName, { item: "crate 7", note: "The customer asked for it twice." });
  await start(longWorkflowName, { item: "crate 8", note: `It is heavy. ${"Handle with care. ".repeat(20)}` });
  const failedRun = await start("nightly-import", { day: "2026-02-01" });
  const timer = await start("order-saga", { order: "A-8" });
  await start("order-saga", { order: "A-9", carrier: "none" });
  const tickets = Array.from({ length: 12 }, (_, index) => ({
    id: `T-${index}`,
    subject: index % 4 === 0 ? "It hums" : "My invoice",
  }));
  const mapped = await start("triage-map", { stimulus_payload: { tickets } });

  const { id: source } = await post("/v1/stimulus-routes", {
    source: "orders",
    workflow: "on-stimulus",
    signature: "stripe",
    generate_secret: true,
    description: "Orders of the shop, as its checkout sends them",
  });
  await post("/v1/stimulus-routes", { source: "chat-of-the-support-team-in-europe", workflow: "on-stimulus" });
  let stimulus = "";
  await Promise.all(
    Array.from({ length: rows }, async (_, row) => {
      const note = "Please ring twice. ".repeat(row);
      const content = { order: row, customer: { name: "Ada", tags: ["a", "b"] }, note };
      // What has no route is refused, and kept as a dead letter.
      const sent = await call("POST", "/v1/stimuli", { source: row % 5 === 4 ? "nowhere" : "orders", content });
      if (row === 0) stimulus = sent.body.stimulus_id;
    }),
  );

  const hosts = await enrolHosts(url, post, 6);
  const { id: group } = await post("/v1/edge/groups", { name: "web servers", selector: { tags: ["web"] } });
  const invoked = await call(
    "POST",
    "/v1/edge/fleet/invoke",
    { target: { Selector: { tags: ["web"] } }, tool: "cmd.run", args: { command: "uptime" } },
    { Accept: "application/json" },
  );

  // Nothing listens there: its page shows a fault.
  await post("/v1/tool-servers", { name: "crm", transport: "streamable_http", url: "http://127.0.0.1:9/mcp" });
  await post("/v1/security-contexts", { name: "careful", capabilities: [{ tool_pattern: "crm.*", approval: {} }] });
  await made("PUT", "/v1/secrets/payments/stripe-key", { value: "sk-0123456789" });
  await made("PUT", "/v1/secrets/a/rather/deep/path/with-a-long-name-of-a-secret", { value: "x" });
  const credential = await post("/v1/credentials/api-keys", { provider: "crm", value: "0123456789", label: "sales" });
  await post(`/v1/credentials/${credential.id}/grants`, { agent_id: agentId("summarizer") });
  await post("/v1/api-keys", { name: "nightly import", scopes: ["read", "agent:execute"] });
  const { id: volume } = await post("/v1/volumes", { label: "reports", size_limit_bytes: 104_857_600 });
  await post(`/v1/volumes/${volume}/files/mkdir`, { path: "/2026" });

  const status = (path: string) => async () => (await call("GET", path)).body;
  await until(async () => (await status(`/v1/executions/${failed}`)()).status === "failed", {
    timeoutMs: 30_000,
    what: "an execution to fail",
  });
  await until(async () => (await status(`/v1/executions/${completed}`)()).status === "completed", {
    timeoutMs: 30_000,
    what: "an execution to end",
  });
  await until(async () => (await status("/v1/human-approvals?limit=50")()).items.length >= 3, {
    timeoutMs: 30_000,
    what: "approvals to be asked for",
  });
  const { items: asked } = await status("/v1/human-approvals?limit=50")();
  const approval = asked.find(({ kind }: LooseJson) => kind === "tool_call") ?? asked[0];

  return {
    agent: agentId("releaser"),
    execution: { completed, failed, running, waiting },
    run: { waiting: waitingRun, failed: failedRun, timer, mapped },
    workflow: longWorkflowName,
    approval: approval.id,
    stimulus,
    source,
    host: hosts.ids[0] ?? "",
    group,
    fleetRun: invoked.body.fleet_command_id,
    volume,
    credential: credential.id,
    close: hosts.close,
  };
}

type Post = (path: string, body?: unknown) => Promise<LooseJson>;

/** Hosts that answer every command; the last one is offline. */
async function enrolHosts(url: string, post: Post, count: number) {
  const kinds = ["web", "api", "db"];
  const enrol = async (index: number): Promise<ScriptedDaemon> => {
    const kind = kinds[index % kinds.length] ?? "web";
    const name = `${kind}-eu-${String(index).padStart(3, "0")}`;
    const { token } = await post("/v1/edge/enrollment-tokens", { name, tags: [kind, "stable"] });
    const key = generateKeyPairSync("ed25519").privateKey;
    const public_key = publicHalf(key);
    const digest = createHash("sha256").update(token).digest("hex");
    const response = await fetch(`${url}/v1/edge/daemon/enroll`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, public_key, signature: signed(key, enrollmentMessage(public_key, digest)) }),
    });
    const enrolled = (await response.json()) as LooseJson;
    const daemon = new ScriptedDaemon(url, { id: enrolled.node_id, key });
    for (const { kid, public_key: its } of enrolled.service_keys) daemon.serviceKeys.set(kid, its);
    return daemon;
  };
  const daemons = await Promise.all(Array.from({ length: count }, (_, index) => enrol(index)));
  let isOpen = true;
  const serve = async (daemon: ScriptedDaemon, index: number) => {
    await daemon.welcome();
    let idle = 0;
    for (let read = 0; isOpen && daemon.closed === null; ) {
      const frame = daemon.frames[read];
      if (frame === undefined) {
        await Bun.sleep(50);
        // Each 15 s: one that is not heard of is disconnected.
        if (++idle % 300 === 0) daemon.heartbeat();
        continue;
      }
      read += 1;
      if (frame.t !== "invoke") continue;
      const { command_id: id } = frame.body;
      const stdout_tail = ` 16:03:12 up ${index} days, load average: 0.${index}, 0.12, 0.10\n`;
      daemon.started(id);
      daemon.progress(id, 0, Buffer.from(stdout_tail));
      daemon.result(
        id,
        index === 3
          ? {
              status: "err",
              exit_code: 2,
              stdout_tail,
              stderr_tail: "fatal: there is no such unit\n",
              error_kind: "nonzero_exit",
              error_message: "The command ended with 2",
            }
          : { duration_ms: 240, stdout_tail },
      );
    }
  };
  const online = daemons.slice(0, -1);
  await Promise.all(
    online.map(async (daemon, index) => {
      const done = serve(daemon, index);
      done.catch(() => {});
      await until(() => daemon.frames.some(({ t }) => t === "welcome"), { what: "a host to be welcome" });
    }),
  );
  return {
    ids: daemons.map(({ host }) => host.id),
    close: () => {
      isOpen = false;
      for (const daemon of online) daemon.close();
    },
  };
}
