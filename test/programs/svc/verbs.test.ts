/** Every verb of agents, executions, workflows and runs against a real node, and that `--json` of each list is stable. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { scratch } from "../../harness/scratch.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { allVerbs, type SvcOptions, svc } from "./harness.ts";

let stores: TestStores;
let node: NodeProcess;
let verbs: readonly string[] = [];
const done = new Set<string>();
const directory = scratch("svc-verbs");
const sample = (name: string) => join(import.meta.dir, "../../../src/features/workflows/sample", name);

beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
  verbs = await allVerbs();
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

/** Runs a command on the development node, which needs no sign-in. */
function run(words: readonly string[], options: SvcOptions = {}) {
  const verb = verbs.find((one) => `${words.join(" ")} `.startsWith(`${one} `));
  if (verb !== undefined) done.add(verb);
  const env = { SVC_API_URL: node.url, XDG_CONFIG_HOME: join(directory, "config"), ...options.env };
  return svc(words, { directory, ...options, env });
}
/** One that goes well. @returns its answer */
async function json(...words: readonly string[]) {
  const said = await run([...words, "--json"]);
  if (said.code !== 0) throw new Error(`${words.join(" ")}: ${said.err}`);
  return said.json;
}

const script = (turns: readonly object[]) => ["```svc-script", JSON.stringify(turns), "```"].join("\n");
const manifest = (answer: string, version = "1.0.0", more: object = {}, spec: object = {}) =>
  JSON.stringify({
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name: "speaker", version, ...more },
    spec: {
      runtime: { language: "python", version: "3.12", model: "default" },
      task: { instruction: script([{ content: answer }]) },
      ...spec,
    },
  });
const slow = manifest(
  "never",
  "1.0.0",
  { name: "slow" },
  {
    task: {
      instruction: script([{ tool_calls: [{ name: "cmd.run", arguments: { command: "sleep", args: ["60"] } }] }]),
    },
    tools: ["cmd.run"],
  },
);

test("the manifest that init wrote runs unchanged, without any sign-in", async () => {
  expect((await run(["agents", "init", "hello.yaml"])).code).toBe(0);
  expect((await run(["agents", "init", "hello.yaml"])).code).toBe(4);
  const deployed = await run(["agents", "deploy", "hello.yaml"]);
  expect([deployed.code, deployed.err, deployed.out]).toEqual([0, "", "✓ Deployed hello 0.1.0\n"]);
  expect((await run(["agents", "deploy", "hello.yaml"])).out).toContain("Unchanged");
  const ran = await run(["run", "hello.yaml", "Ada"]);
  expect([ran.code, ran.out]).toEqual([0, "Hello from hello!\n"]);
  expect(ran.err).toContain("✓ fs.write");
  expect((await run(["executions", "files", "get", "last", "greeting.txt"])).out).toBe("Hello from hello!\n");
  await run(["executions", "files", "get", "last", "greeting.txt", "-o", "greeting.txt"]);
  expect(readFileSync(join(directory, "greeting.txt"), "utf8")).toBe("Hello from hello!\n");
  expect((await json("executions", "files", "ls", "last")).map(({ path }: { path: string }) => path)).toEqual([
    "/greeting.txt",
  ]);
});

test("agents: versions, differences, back and forth, edited, paused, archived, deleted", async () => {
  const deploy = (text: string, ...more: string[]) => run(["agents", "deploy", "-", ...more], { input: text });
  const tried = await deploy(manifest("one"), "--dry-run", "--json");
  expect([tried.code, tried.json.action]).toEqual([0, "create"]);
  await deploy(manifest("one"));
  expect((await deploy(manifest("uno"), "--json")).json).toMatchObject({ revision: 2 });
  await deploy(manifest("two", "2.0.0"));
  expect((await json("agents", "versions", "speaker")).map(({ version }: { version: string }) => version)).toEqual([
    "2.0.0",
    "1.0.0",
  ]);
  const differs = await run(["agents", "diff", "speaker", "1.0.0"]);
  expect([differs.code, differs.out]).toEqual([1, expect.stringContaining("+")]);
  expect((await json("agents", "rollback", "speaker", "--to", "1.0.0")).version).toBe("1.0.0");
  expect((await run(["agents", "get", "speaker", "--manifest"])).out).toBe(`${manifest("uno")}\n`);
  expect((await json("agents", "get", "speaker", "--version", "2.0.0")).version).toBe("2.0.0");
  const editor = async ([, , , path = ""]: readonly string[]) => {
    writeFileSync(path, manifest("edited"));
    return 0;
  };
  const edited = await run(["agents", "edit", "speaker", "--json"], { start: editor, answers: [] });
  expect(edited.json).toMatchObject({ revision: 3 });
  const broken = async ([, , , path = ""]: readonly string[]) => {
    writeFileSync(path, manifest("x", "1.0.0", {}, { tools: 7 }));
    return 0;
  };
  const refused = await run(["agents", "edit", "speaker"], { start: broken, answers: ["n"] });
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("spec.tools")]);
  expect((await json("agents", "pause", "speaker")).status).toBe("paused");
  expect((await run(["run", "speaker"])).code).toBe(4);
  expect((await json("agents", "resume", "speaker")).status).toBe("active");
  expect((await json("agents", "archive", "speaker")).status).toBe("archived");
  expect((await run(["agents", "delete", "speaker"])).code).toBe(2);
  expect((await run(["agents", "delete", "speaker"], { answers: ["no"] })).code).toBe(1);
  expect((await run(["agents", "delete", "speaker"], { answers: ["y"] })).code).toBe(0);
  expect((await run(["agents", "get", "speaker"])).code).toBe(4);
});

test("a refusal names message, code, every issue with its place, and the request", async () => {
  const broken = manifest("x", "1.0.0", {}, { runtime: { language: "cobol", version: "1" }, tools: 7 });
  const said = await run(["agents", "deploy", "-"], { input: broken });
  expect(said.code).toBe(2);
  expect(said.err).toMatch(/^error: .+ \(\w+\)\n/);
  expect(said.err).toMatch(/^ {2}spec\.runtime\S*: /m);
  expect(said.err).toMatch(/^ {2}spec\.tools: .+/m);
  expect(said.err).toMatch(/request id [0-9a-f-]{36}/);
  const programs = JSON.parse((await run(["agents", "deploy", "-", "--json"], { input: broken })).err).error;
  expect(programs).toMatchObject({ exit: 2, status: 422, request_id: expect.any(String) });
  expect(programs.issues.length).toBeGreaterThan(1);
  expect((await run(["agents", "list", "--api-key", "none"])).code).toBe(3);
});

test("executions: started, followed, listed, logged, cancelled, retried, deleted", async () => {
  await run(["agents", "deploy", "-"], { input: manifest("said", "1.0.0", { name: "talker" }) });
  await run(["agents", "deploy", "-"], { input: slow });
  const record = await json("run", "talker", "--input", "a=1", "--input", "b=x", "--label", "team=one");
  expect(record).toMatchObject({
    status: "completed",
    output: "said",
    input: { a: 1, b: "x" },
    labels: { team: "one" },
  });
  expect((await run(["run", "talker", "-q"])).err).toBe("");
  const listed = await json("executions", "list", "--agent", "talker", "--label", "team=one", "--since", "1h");
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([record.id]);
  const columns = await run(["executions", "list", "--limit", "1", "--columns", "agent,usage.llm_calls"]);
  expect(columns.out).toMatch(/^AGENT +USAGE\.LLM_CALLS\ntalker +1\n$/);
  expect((await run(["executions", "get", record.id, "--output"])).out).toBe("said\n");
  expect((await json("executions", "get", "last")).agent_name).toBe("talker");
  const events = (await run(["executions", "logs", record.id, "--json"])).lines;
  expect(Object.keys(events.at(-1))).toEqual(["execution_completed"]);
  expect((await run(["executions", "logs", record.id, "--follow", "--events", "execution_completed"])).out).toBe(
    "✓ Completed\n",
  );
  expect((await run(["executions", "watch", record.id])).out).toBe("said\n");
  const again = await json("executions", "retry", record.id, "--input", "other");
  expect(again).toMatchObject({ retry_of: record.id, input: "other" });
  const started = await json("run", "slow", "--detach");
  const watching = run(["executions", "watch", started.id]);
  const cancelled = await run(["executions", "cancel", started.id, "--reason", "enough"]);
  expect([cancelled.code, (await watching).code]).toEqual([0, 7]);
  expect((await run(["executions", "cancel", crypto.randomUUID()])).code).toBe(4);
  expect((await json("executions", "delete", started.id, "--yes")).status).toBe("deleted");
  expect((await run(["executions", "get", started.id])).code).toBe(4);
  expect((await run(["run", "talker", "--version", "9.9.9"])).code).not.toBe(0);
});

test("Ctrl-C while following detaches, and says how to come back; the work goes on", async () => {
  const stop = new AbortController();
  let told = "";
  const running = run(["run", "slow"], {
    interrupted: stop.signal,
    heard: (text) => {
      told += text;
      if (told.includes("cmd.run")) stop.abort();
    },
  });
  const { code, err } = await running;
  const id = /svc executions watch (\S+)`/.exec(err)?.[1] ?? "";
  expect([code, (await json("executions", "get", id)).status]).toEqual([1, "running"]);
  await run(["executions", "cancel", id]);
});

test("workflows: registered, judged, drawn, compared, with schedules, deleted", async () => {
  const text = readFileSync(sample("order-saga.yaml"), "utf8");
  expect((await run(["workflows", "validate", "-"], { input: "kind: Workflow" })).code).toBe(2);
  expect((await run(["workflows", "register", sample("order-saga.yaml"), "--dry-run"])).code).toBe(0);
  expect(await json("workflows", "list")).toEqual([]);
  expect((await json("workflows", "register", sample("order-saga.yaml"))).status).toBe("registered");
  expect((await run(["workflows", "register", sample("order-saga.yaml")])).code).toBe(4);
  const next = text.replace('version: "1.0.0"', 'version: "1.1.0"').replace("delay: 2s", "delay: 3s");
  expect((await run(["workflows", "register", "-"], { input: next })).code).toBe(0);
  expect((await json("workflows", "versions", "order-saga")).length).toBe(2);
  expect((await run(["workflows", "get", "order-saga", "--manifest"])).out).toBe(next);
  const diff = await run(["workflows", "diff", "order-saga", "1.0.0", "1.1.0"]);
  expect([diff.code, diff.out]).toEqual([1, expect.stringContaining("REFUND")]);
  expect((await run(["workflows", "graph", "order-saga"])).out).toContain("on_success → CHARGE");
  const timed = next
    .replaceAll("order-saga", "timed")
    .replace("spec:\n", "spec:\n  schedules: [{name: nightly, cron: '0 3 * * *', input: {order: A-9}}]\n");
  const scheduled = await run(["workflows", "register", "-"], { input: timed });
  expect([scheduled.code, scheduled.err]).toEqual([0, expect.any(String)]);
  expect((await json("workflows", "schedules", "list", "timed"))[0]).toMatchObject({ name: "nightly", paused: false });
  expect((await json("workflows", "schedules", "pause", "timed", "nightly")).paused).toBe(true);
  expect((await json("workflows", "schedules", "resume", "timed", "nightly")).paused).toBe(false);
  expect(
    (await json("workflows", "schedules", "backfill", "timed", "nightly", "--from", "1h", "--yes")).started,
  ).toBeNumber();
  expect((await run(["workflows", "schedules", "run", "timed", "none"])).code).toBe(4);
  expect((await run(["workflows", "schedules", "run", "timed", "nightly"])).code).not.toBe(5);
  expect((await run(["workflows", "delete", "timed", "--force", "--yes"])).code).toBe(0);
  expect((await run(["workflows", "get", "timed"])).code).toBe(4);
});

test("runs: followed, signalled, paused, cancelled, retried, forked, migrated", async () => {
  const failed = await run(["runs", "run", "order-saga", "-i", "order=A-1", "-i", "carrier=none"]);
  expect([failed.code, failed.err]).toEqual([1, expect.stringContaining("undid")]);
  const begun = await json("workflows", "run", "order-saga", "--version", "1.0.0", "-i", "order=A-2", "--detach");
  await until(async () => (await json("runs", "get", begun.id)).waiting_for?.kind === "signal");
  expect((await run(["runs", "pause", begun.id])).code).toBe(0);
  expect((await run(["runs", "resume", begun.id])).code).toBe(0);
  const moved = await json("runs", "migrate", "order-saga", "--to", "1.1.0", "--state", "DELIVERY", "--yes");
  expect(moved.migrated).toEqual([begun.id]);
  const watching = run(["runs", "watch", begun.id]);
  expect((await json("runs", "signal", begun.id, "delivered", "--payload", '{"at":1}')).status).toBe("signal_sent");
  const watched = await watching;
  expect([watched.code, JSON.parse(watched.out).order]).toEqual([0, "A-2"]);
  expect((await run(["runs", "logs", begun.id, "--json"])).lines.at(-1).type).toBe("WorkflowExecutionCompleted");
  expect((await run(["runs", "graph", begun.id])).out).toContain("on_success → SHIP");
  const forked = await json("runs", "fork", begun.id, "--from", "CHARGE", "--detach");
  await until(async () => (await json("runs", "get", forked.id)).waiting_for?.kind === "signal");
  const ending = run(["runs", "logs", forked.id, "--follow"]);
  expect((await run(["runs", "cancel", forked.id, "--compensate"])).code).toBe(0);
  expect((await ending).out).toContain("undid");
  expect((await run(["runs", "retry", "last", "--from", "SHIP", "--detach"])).code).toBeNumber();
  const rows = await json("runs", "list", "--workflow", "order-saga", "--status", "failed");
  expect(rows.length).toBeGreaterThan(0);
  expect((await run(["runs", "delete", begun.id, "--yes"])).code).toBe(0);
  expect((await run(["runs", "get", begun.id])).code).toBe(4);
  expect((await run(["runs", "items", "last"])).code).toBe(2);
});

test("items of a Map are listed, begun again and ended", async () => {
  const mapped = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "mapped", version: "1.0.0" },
    spec: {
      initial_state: "EACH",
      states: {
        EACH: {
          kind: "Map",
          items: "{{input.list}}",
          state: { kind: "System", command: "sleep {{item}}" },
          tolerate: 5,
          transitions: [{ target: "DONE" }],
        },
        DONE: { kind: "System", command: "noop", transitions: [] },
      },
    },
  };
  await run(["workflows", "register", "-"], { input: JSON.stringify(mapped) });
  const begun = await json("runs", "run", "mapped", "-i", "list=[60,60]", "--detach");
  const items = (...more: string[]) => json("runs", "items", begun.id, "--state", "EACH", ...more);
  await until(async () => (await items("--status", "running")).length === 2);
  await items("--cancel", "0");
  await until(async () => (await items("--status", "cancelled"))[0]?.index === 0);
  const again = await run(["runs", "items", begun.id, "--state", "EACH", "--retry", "0"]);
  expect([again.code, again.out || again.err]).toEqual([0, expect.stringContaining("0")]);
  await run(["runs", "cancel", begun.id]);
  expect((await run(["runs", "items", begun.id, "--state", "EACH", "--cancel", "1"])).code).not.toBe(0);
});

test("a list is shown again when it changes, and ends with Ctrl-C", async () => {
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const watching = run(["agents", "list", "--watch", "--json"], {
    interrupted: stop.signal,
    printed(text) {
      begun.resolve();
      if (text.includes("newcomer")) stop.abort();
    },
  });
  await begun.promise;
  await run(["agents", "deploy", "-"], { input: manifest("x", "1.0.0", { name: "newcomer" }) });
  const said = await watching;
  expect([said.code, said.lines.length]).toEqual([0, 2]);
});

test("every list is an array of records, in the same order each time, or a table", async () => {
  for (const words of [
    ["agents", "list"],
    ["executions", "list"],
    ["workflows", "list"],
    ["runs", "list"],
  ]) {
    const [one, other] = [await run([...words, "--json"]), await run([...words, "--json"])];
    expect(one.out).toBe(other.out);
    expect(Array.isArray(one.json)).toBe(true);
    const [limited, table] = [await json(...words, "--limit", "1"), await run([...words, "--limit", "1"])];
    expect([limited.length, table.out.trimEnd().split("\n").length]).toEqual([1, 2]);
    expect((await run([...words, "--yaml", "--limit", "1"])).out).toStartWith("- ");
  }
});

test("svc edge has the sign-in and options of the others, and ends with the same codes", async () => {
  const token = await run(["edge", "token", "create", "--name", "web-1"]);
  expect([token.code, token.out.split(".").length]).toEqual([0, 3]);
  expect(await json("edge", "ls")).toEqual([]);
  expect((await json("edge", "token", "ls")).length).toBe(1);
  expect((await json("edge", "fleet", "preview", "all")).count).toBe(0);
  expect(await json("edge", "group", "ls")).toEqual([]);
  expect((await json("edge", "group", "create", "web", "--selector", "tags=web")).name).toBe("web");
  const columns = await run(["edge", "group", "ls", "--columns", "name,hosts"]);
  expect(columns.out).toMatch(/^NAME +HOSTS\nweb +0\n$/);
  expect((await run(["edge", "fleet", "runs", "--yaml"])).out).toBe("[]\n");
  expect((await run(["edge", "fleet", "runs", "--follow"])).code).toBe(2);
  expect((await run(["edge", "fleet", "runs", crypto.randomUUID()])).code).toBe(4);
  expect((await run(["edge", "host", "hold", "none"])).code).toBe((await run(["agents", "get", "none"])).code);
  for (const key of ["none"]) {
    const [edge, agents] = [
      await run(["edge", "ls", "--api-key", key]),
      await run(["agents", "list", "--api-key", key]),
    ];
    expect([edge.code, agents.code]).toEqual([3, 3]);
  }
  expect((await run(["edge", "host", "revoke", "web-1"])).code).toBe(4);
});

test("whoami and token tell the caller of a development node", async () => {
  expect(await json("whoami")).toMatchObject({ identity: "development", role: "admin", url: node.url });
  const { out } = await run(["token"]);
  const answer = await fetch(`${node.url}/v1/agents`, { headers: { Authorization: `Bearer ${out.trim()}` } });
  expect(answer.status).toBe(200);
  expect((await run(["login", node.url])).code).toBe(2);
  expect((await run(["login", node.url, "--as", "alice", "--context", "alice"])).code).toBe(0);
  expect((await run(["whoami", "--json"])).json).toMatchObject({ context: "alice", name: "alice" });
});

test("no verb of these groups was left out", () => {
  const wanted = verbs.filter((verb) => /^(agents|executions|workflows|runs|run|whoami|token)\b/.test(verb));
  expect(wanted.filter((verb) => !done.has(verb))).toEqual([]);
});
