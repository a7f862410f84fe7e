/**
 * What callers make the node compute never holds its main thread for long (docs/reference/security.md). Measured in the
 * node itself: the longest that its event loop was held since the last reading.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Answer, NodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import {
  agent,
  commands,
  deadEnd,
  filled,
  inside,
  longest,
  MiB,
  members,
  mostTags,
  runs,
  schemas,
  state,
  templates,
  workflow,
  yamls,
} from "./hostile.ts";
import { boundMs, MeasuredNode } from "./main-thread.ts";

let stores: TestStores;
let mainThread: MeasuredNode;
let node: NodeProcess;

beforeAll(async () => {
  stores = await freshStores();
  mainThread = await MeasuredNode.start(stores);
  node = mainThread.node;
}, 60_000);

afterAll(async () => {
  await node?.dispose();
});

type Body = string | object;
const together = async (count: number, call: () => Promise<Answer>): Promise<Answer | undefined> =>
  (await Promise.all(Array.from({ length: count }, call))).at(-1);
const register = (body: Body) => node.call("POST", "/v1/workflows/validate", body);
const deploy = (body: Body) => node.call("POST", "/v1/agents?dry_run=true", body);

/** Deploys a manifest, or tells why it was refused by deploying none. */
async function stored(body: object): Promise<string> {
  const { body: answer } = await node.call("POST", "/v1/agents", body);
  return answer.agent_id ?? Bun.randomUUIDv7();
}

/** An agent with a dozen versions that are nearly as large as a manifest may be. */
let large = "";
/** A caller who may read agents and not deploy them: the service writes the manifests anew without their secrets. */
let reader: Readonly<Record<string, string>> = {};

async function largeVersions(): Promise<void> {
  if (large !== "") return;
  const name = `a${Bun.randomUUIDv7()}`;
  for (let version = 1; version <= 12; version += 1) {
    const data = { list: Array.from({ length: 980 }, (_, index) => filled(`${index} x `, 900)) };
    const spec = { task: { instruction: "x", input_data: data } };
    const { body } = await node.call("POST", "/v1/agents", agent(spec, { name, version: `${version}.0.0` }));
    large = body.agent_id;
  }
  reader = {
    Authorization: `Bearer ${await node.token({ client_id: "svc-service", client_secret: "svc-service-secret" })}`,
  };
}

type Attack = readonly [string, () => Promise<unknown>];

/** Every text by every way in the longer form; otherwise each text by one way, turn by turn: the ways share their checks. */
const byTurns = (ways: readonly Attack[], index: number): readonly Attack[] =>
  process.env.SVC_LONG_TESTS === "1" ? ways : ways.filter((_, way) => way === index % ways.length);

const attacks: readonly Attack[] = [
  ...schemas.flatMap(([name, schema], index) =>
    byTurns(
      [
        [`a workflow's input_schema: ${name}`, () => register(workflow({}, { input_schema: inside(schema) }))] as const,
        [`an agent's input_schema: ${name}`, () => deploy(agent({ input_schema: inside(schema) }))] as const,
        [
          `a json_schema validator: ${name}`,
          () => deploy(agent({ execution: { validation: [{ type: "json_schema", schema }] } })),
        ] as const,
      ],
      index,
    ),
  ),
  ...yamls.flatMap(([name, text], index) =>
    byTurns(
      [
        [`a workflow in YAML: ${name}`, () => register(text)] as const,
        [`an agent in YAML: ${name}`, () => deploy(text)] as const,
        [`a workflow's YAML within JSON: ${name}`, () => register({ manifest_yaml: text })] as const,
      ],
      index,
    ),
  ),
  ...templates.flatMap(([name, text], index) =>
    byTurns(
      [
        [
          `an agent's prompt template: ${name}`,
          () => deploy(agent({ task: { instruction: "x", prompt_template: text(longest) } })),
        ] as const,
        [
          `a workflow's template: ${name}`,
          () =>
            register(
              workflow({ states: { ONE: { kind: "Agent", agent: "x", input: text(longest), transitions: [] } } }),
            ),
        ] as const,
      ],
      index,
    ),
  ),
  ...commands.map(
    ([name, text]) =>
      [`a command: ${name}`, () => register(workflow({ states: { ONE: state({ command: text }) } }))] as const,
  ),
  ...templates.map(
    ([name, text]) =>
      [
        `a start whose prompt template is stored: ${name}`,
        async () => {
          const id = await stored(
            agent({ task: { instruction: "x", prompt_template: `${Bun.randomUUIDv7()} ${text(mostTags)}` } }),
          );
          await mainThread.held();
          return node.call("POST", "/v1/executions", { agent_id: id, input: "x" });
        },
      ] as const,
  ),
  [
    "a small template that renders much",
    async () => {
      const loop = "{{#each input.list}}{{#each @root.input.list}}{{json @root.input}}{{/each}}{{/each}}";
      const id = await stored(agent({ task: { instruction: "x", prompt_template: loop } }));
      await mainThread.held();
      return node.call("POST", "/v1/executions", {
        agent_id: id,
        input: { list: Array.from({ length: 50_000 }, () => 1) },
      });
    },
  ],
  ...schemas.map(
    ([name, schema]) =>
      [
        `a start whose input_schema is stored: ${name}`,
        async () => {
          const id = await stored(agent({ input_schema: inside(schema) }));
          await mainThread.held();
          return node.call("POST", "/v1/executions", { agent_id: id, input: { a: "a".repeat(500_000) } });
        },
      ] as const,
  ),
  [
    "versions of a mebibyte each, written anew for a reader who may not see all",
    async () => {
      await largeVersions();
      await mainThread.held();
      return node.call("GET", `/v1/agents/${large}/versions?limit=500`, undefined, reader);
    },
  ],
  ["one of them", () => node.call("GET", `/v1/agents/${large}`, undefined, reader)],
  ["a patch of one", () => node.call("PATCH", `/v1/agents/${large}?dry_run=true`, { labels: { a: "b" } })],
  [
    "many parts of an upload",
    async () => {
      const volume = await node.call("POST", "/v1/volumes", { label: Bun.randomUUIDv7() });
      const form = filled(`--b\r\nContent-Disposition: form-data; name="x"${";".repeat(200)}\r\n\r\n\r\n`, MiB);
      const headers = { "Content-Type": "multipart/form-data; boundary=b" };
      await mainThread.held();
      return node.call("POST", `/v1/volumes/${volume.body.id ?? volume.body.volume_id}/files/upload`, form, headers);
    },
  ],
  ...runs.map(
    ([name, spec, input]) =>
      [
        `a run of a workflow: ${name}`,
        async () => {
          const manifest = workflow(spec);
          expect(await node.call("POST", "/v1/workflows", manifest)).toMatchObject({ body: { status: "registered" } });
          await mainThread.held();
          const started = await node.call("POST", `/v1/workflows/${manifest.metadata.name}/run`, { input });
          expect(started.status).toBe(200);
          await until(
            async () => {
              const { body } = await node.call("GET", `/v1/workflows/executions/${started.body.execution_id}`);
              return body.status !== "running";
            },
            { timeoutMs: 30_000, everyMs: 100, what: "the run to end" },
          );
          return started;
        },
      ] as const,
  ),
  [
    "many states with many conditions",
    () =>
      register(
        workflow({
          states: members(300, () =>
            state({
              transitions: Array.from({ length: 20 }, () => ({
                condition: "on_expression",
                expression: filled("and a ", 200),
                target: "ONE",
              })),
            }),
          ),
        }),
      ),
  ],
  [
    "regular expressions of validators",
    () =>
      deploy(
        agent({
          execution: {
            validation: Array.from({ length: 16 }, () => ({
              type: "regex",
              pattern: filled("[\\p{L}]", 4000),
              flags: "i",
            })),
          },
        }),
      ),
  ],
  [
    "a cron expression",
    () => deploy(agent({ schedule: { type: "cron", cron: `${filled("0,", 200)}0 0 31 2 *`, timezone: "UTC" } })),
  ],
  ["labels", () => deploy(agent({}, { labels: members(20_000, () => "x") }))],
  [
    "network patterns",
    () =>
      deploy(
        agent({
          security: {
            network: { mode: "allow", allowlist: Array.from({ length: 20_000 }, (_, index) => `*.h${index}.example`) },
          },
        }),
      ),
  ],
  [
    "paths of files",
    () =>
      deploy(
        agent({ security: { filesystem: { read: Array.from({ length: 20_000 }, () => `/${filled("**/", 180)}`) } } }),
      ),
  ],
  [
    "a body of lists",
    () => node.call("POST", "/v1/stimuli", { source: "x", content: JSON.parse(`[${filled("[],", 700_000)}[]]`) }),
  ],
  [
    "a body of depth",
    () => node.call("POST", "/v1/executions", `${"[".repeat(MiB - 10)}`, { "Content-Type": "application/json" }),
  ],
  [
    "labels of a start",
    () =>
      node.call("POST", "/v1/executions", {
        agent_id: Bun.randomUUIDv7(),
        input: "x",
        labels: members(40_000, () => "x"),
      }),
  ],
  [
    "an input of a start",
    () => node.call("POST", "/v1/executions", { agent_id: Bun.randomUUIDv7(), input: members(60_000, () => "\ud83d") }),
  ],
  [
    "many large bodies at once",
    () => {
      const body = JSON.stringify({ label: "x", ...members(60_000, () => 1) });
      return together(40, () => node.call("POST", "/v1/volumes", body, { "Content-Type": "application/json" }));
    },
  ],
  ["many small manifests at once", () => together(100, () => register(`a:\n${filled("- 1\n", 8_000)}`))],
  [
    "many reads of a large run at once",
    async () => {
      const manifest = workflow({ states: { ONE: deadEnd } });
      await node.call("POST", "/v1/workflows", manifest);
      const input = Array.from({ length: 150_000 }, () => ({}));
      const { body } = await node.call("POST", `/v1/workflows/${manifest.metadata.name}/run`, { input });
      const path = `/v1/workflows/executions/${body.execution_id}/graph`;
      await until(async () => (await node.call("GET", path)).body.status !== "running", { what: "the run to end" });
      await mainThread.held();
      return together(25, () => node.call("GET", path));
    },
  ],
  ["a long query", () => node.call("GET", `/v1/agents?${filled("label=a%3Db&", 14_000)}`)],
  ["a long cursor", () => node.call("GET", `/v1/executions?cursor=${"A".repeat(14_000)}`)],
  ["a search text", () => node.call("GET", `/v1/agents?q=${"%25".repeat(4_000)}`)],
];

describe("the main thread is not held for long by", () => {
  test.each(attacks.map(([name, attack]) => ({ name, attack })))(
    "$name",
    async ({ attack }) => {
      let answer: Answer | null = null;
      const longest = await mainThread.holds(async () => {
        answer = (await attack()) as Answer;
      });
      expect((answer as unknown as Answer).status).toBeLessThan(500);
      expect(longest).toBeLessThan(boundMs);
    },
    60_000,
  );
});

test("the series of the metrics shows the longest hold, too", () => {
  expect(mainThread.longest).toBeGreaterThan(0);
  // It counts the wait for a processor as well.
  expect(mainThread.longestShown).toBeGreaterThan(mainThread.longest / 2);
});

test("a tenant's slow checks are bounded, end with their callers, delay no others", async () => {
  const crowd = {
    Authorization: `Bearer ${await node.token({ username: "crowd", tier: "enterprise" }, "svc-consumer")}`,
  };
  const slow = await node.call(
    "POST",
    "/v1/agents",
    agent({ input_schema: inside({ properties: { a: { uniqueItems: true } } }) }),
    crowd,
  );
  const quick = agent({ input_schema: inside({ properties: { a: { pattern: "^(a+)+$" } } }) });
  const own = await node.call(
    "POST",
    "/v1/agents",
    { ...quick, metadata: { ...quick.metadata, name: "crowd" } },
    crowd,
  );
  const other = await node.call("POST", "/v1/agents", quick);
  const list = Array.from({ length: 40_000 }, (_, index) => ({ index }));
  const body = JSON.stringify({ agent_id: slow.body.agent_id, input: { a: list } });

  const leaving = new AbortController();
  const statuses: number[] = [];
  const codes: string[] = [];
  const flood = Array.from({ length: 20 }, async () => {
    const headers = { ...crowd, "Content-Type": "application/json" };
    const answer = await fetch(`${node.url}/v1/executions`, { method: "POST", headers, body, signal: leaving.signal });
    statuses.push(answer.status);
    codes.push(((await answer.json()) as { code: string }).code);
  });
  const ended = Promise.allSettled(flood);
  // Beyond those that run and those that may wait, the tenant's own are refused at once.
  await until(() => codes.length > 0, { timeoutMs: 20_000, what: "a start to be refused" });
  expect(new Set(codes)).toEqual(new Set(["too_many_checks"]));
  expect(new Set(statuses)).toEqual(new Set([429]));

  const before = codes.length;
  const started = await node.call("POST", "/v1/executions", {
    agent_id: other.body.agent_id,
    input: { a: `${"a".repeat(5000)}!` },
  });
  expect(started.status).toBe(422);
  expect(
    (await node.call("POST", "/v1/executions", { agent_id: other.body.agent_id, input: { a: "aa" } })).status,
  ).toBe(200);
  const volume = await node.call("POST", "/v1/volumes", { label: Bun.randomUUIDv7() });
  expect((await node.call("GET", `/v1/volumes/${volume.body.id}/files`)).status).toBe(200);
  // Each of the tenant's checks takes seconds: two of them at most have ended meanwhile.
  expect(codes.slice(before).filter((code) => code !== "too_many_checks").length).toBeLessThan(3);

  leaving.abort();
  await ended;
  // Eight checks of five seconds were waiting; with their callers gone none of them is done.
  const at = performance.now();
  const next = await node.call("POST", "/v1/executions", { agent_id: own.body.agent_id, input: { a: "aa" } }, crowd);
  expect(next.status).toBe(200);
  expect(performance.now() - at).toBeLessThan(20_000);
}, 120_000);
