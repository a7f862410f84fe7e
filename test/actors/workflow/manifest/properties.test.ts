/** What holds for every manifest: nothing throws, good ones are accepted, no text of a stranger takes long. */
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { Definition } from "../../../../actors/workflow/definition.ts";
import { judgeWorkflow } from "../../../../actors/workflow/manifest/manifest.ts";
import { parseWorkflow } from "../../../../actors/workflow/manifest/parse.ts";
import { around, offer, reading, states, withMember } from "./fixture.ts";

const oddNames = ["__proto__", "constructor", "toString", "length", "", "\0", "\ud800", "a.b", "input"];
const json = fc
  .oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.constantFrom(...oddNames, "{{", "{{a}}", "{{#if a}}", 0, -1, 1e308, [], {}, [[]], "secret:x"),
    fc.dictionary(fc.constantFrom(...oddNames), fc.constantFrom(1, "x", null)),
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

/** The dotted paths of everything in a document. */
function pathsOf(value: Json, at = ""): string[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const path = at === "" ? key : `${at}.${key}`;
    return [path, ...pathsOf(child ?? null, path)];
  });
}

const wholes = Object.values(states).map((state) => around(state as Json) as Json);
const damaged = fc.constantFrom(...wholes).chain((whole) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsOf(whole)), fc.option(json, { nil: undefined })), {
      minLength: 1,
      maxLength: 4,
    })
    .map((changes) =>
      changes.reduce<Json>((document, [path, value]) => {
        try {
          return withMember(document, path, value);
        } catch {
          // An earlier change took away what this one is about.
          return document;
        }
      }, whole),
    )
    // A list that lost an element has `null` there, as JSON would.
    .map((document) => JSON.parse(JSON.stringify(document)) as Json),
);

function judge(document: Json) {
  const judged = judgeWorkflow(document, offer);
  for (const { path, message, code } of judged.issues) {
    expect([typeof path, typeof message, typeof code]).toEqual(["string", "string", "string"]);
    expect(path.isWellFormed() && !path.includes("\0")).toBe(true);
    expect(message.isWellFormed() && !message.includes("\0")).toBe(true);
  }
  if (judged.issues.length === 0) {
    expect([...Value.Errors(Definition, judged.definition)]).toEqual([]);
    // It is stored as JSON and read back.
    expect(JSON.parse(JSON.stringify(judged.definition))).toEqual(judged.definition);
  }
  return judged;
}

test("no document makes the judge throw, and what it accepts is a definition", () => {
  fc.assert(
    fc.property(fc.oneof(damaged, json), (document) => void judge(document)),
    { numRuns: 1500 },
  );
});

test("no text makes the reader throw anything but a problem", () => {
  const scraps = fc.array(
    fc.constantFrom(
      "a",
      ":",
      " ",
      "\n",
      "- ",
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      "&a ",
      "*a",
      "!",
      "|",
      ">",
      "#",
      "%",
      "\t",
      "manifest",
      "\0",
      "\u{feff}",
      "1.0",
      "~",
      "?",
      ",",
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        scraps.map((parts) => parts.join("")),
        fc.string({ unit: "binary" }),
      ),
      (text) => {
        try {
          judge(parseWorkflow(text).document);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
        }
      },
    ),
    { numRuns: 1500 },
  );
});

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,20}$/).filter(
  (one) =>
    reading({
      ...(around({ kind: "Human", prompt: "?", transitions: [] }) as object),
      spec: { initial_state: one, states: { [one]: { kind: "Human", prompt: "?", transitions: [] } } },
    } as Json).issues.length === 0,
);
const text = fc.constantFrom("plain", "{{input.a}}", "a {{upper b}} c", "{{#if x}}y{{/if}}", "ünï", "'\"$`");
const agent = fc.constantFrom("writer", "{{input.agent}}", "11111111-2222-4333-8444-555555555555");
const time = fc.constantFrom(1, "30s", "1h 30m", 2_592_000);
const mounts = fc.constantFrom([], [{ name: "cache", mount_path: "/workspace/c" }]);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const command = fc.record({
  env: optional(
    fc.dictionary(
      fc.stringMatching(/^[A-Z][A-Z_]{0,8}$/).filter((one) => !one.startsWith("SVC_")),
      text,
    ),
  ),
  resources: optional(fc.record({ cpu: fc.integer({ min: 50, max: 64_000 }), timeout: time })),
  network_mode: optional(fc.constantFrom("none", "default", "bridge")),
  timeout: optional(time),
});
const container = fc.record({
  name: text,
  image: fc.constantFrom("alpine", "a/b:1"),
  command: fc.array(fc.constantFrom("ls", "{{a}}"), { minLength: 1 }),
  volumes: optional(mounts),
});
const judge_ = fc.record({
  agent_id: fc.constantFrom("critic"),
  weight: optional(fc.double({ min: 0.1, max: 10, noNaN: true })),
});
const body = fc.oneof(
  fc.record({
    kind: fc.constant("Agent"),
    agent,
    input: fc.oneof(text, fc.dictionary(fc.string({ unit: "grapheme" }), text)),
    judges: optional(fc.array(judge_, { maxLength: 5 })),
    volumes: optional(mounts),
    max_iterations: optional(fc.integer({ min: 1, max: 20 })),
  }),
  fc.record({
    kind: fc.constant("Human"),
    prompt: text,
    timeout: optional(time),
    quorum: optional(fc.integer({ min: 1, max: 20 })),
    approvers: optional(fc.constantFrom([], ["role:lead"])),
  }),
  fc.record({
    kind: fc.constant("ParallelAgents"),
    agents: fc.array(fc.record({ agent, input: text }), { minLength: 1, maxLength: 20 }),
    consensus: fc.record({ strategy: fc.constantFrom("weighted_average", "majority", "unanimous", "best_of_n") }),
  }),
  fc
    .tuple(command, fc.constantFrom("noop", "update_blackboard", "echo {{a}}", ["ls", "{{a}}"]))
    .map(([rest, what]) => ({ ...rest, kind: "System", command: what })),
  fc.tuple(command, container).map(([rest, what]) => ({ ...rest, ...what, kind: "ContainerRun" })),
  fc
    .uniqueArray(container, { minLength: 1, maxLength: 4, selector: (one) => one.name })
    .map((steps) => ({ kind: "ParallelContainerRun", steps, completion: "best_effort" })),
  fc.record({
    kind: fc.constant("Subworkflow"),
    workflow_id: agent,
    mode: fc.constant("blocking"),
    result_key: fc.constant("the result"),
  }),
);
const retry = fc.record({
  attempts: fc.integer({ min: 2, max: 10 }),
  delay: optional(fc.constantFrom(0, "30s", "1h 30m")),
  on: optional(fc.uniqueArray(fc.constantFrom("all", "timed_out", "unexpected_response"), { minLength: 1 })),
});
const http = fc.record({
  kind: fc.constant("Http"),
  url: fc.constantFrom("https://example.com/", "{{input.url}}", "http://example.com/{{input.id}}"),
  headers: optional(fc.constantFrom({ Authorization: "secret:a" }, { "X-Id": "{{input.id}}" })),
  expect: optional(fc.record({ status: fc.constantFrom([200], ["2xx", 404]) })),
  retry: optional(retry),
});
const furtherBody = fc.oneof(
  http,
  fc
    .constantFrom({ seconds: 5 }, { seconds: "{{input.n}}" }, { until: "{{input.at}}" }, { signal: "go", timeout: 5 })
    .map((what) => ({ kind: "Wait", ...what })),
  fc.record({
    kind: fc.constant("Tool"),
    tool: fc.constantFrom("web.search", "{{input.tool}}"),
    arguments: optional(fc.constantFrom({}, { q: "{{input.q}}" }, "{{input.arguments}}")),
    retry: optional(retry),
  }),
  fc.record({
    kind: fc.constant("Fleet"),
    target: fc.constantFrom("All", { Group: "web" }, { Group: "{{input.group}}" }),
    command: fc.constantFrom("uptime", ["ls", "{{input.path}}"]),
    policy: optional(fc.constantFrom({}, { mode: "Parallel", retries: 2 })),
  }),
  fc.record({
    kind: fc.constant("Map"),
    items: fc.constantFrom([], [1, "{{input.a}}"], "{{input.items}}", "[1, 2]"),
    state: fc.oneof(http, fc.constant({ kind: "Agent", agent: "writer", input: "{{item}}" })),
    tolerate: optional(fc.constantFrom(3, "10%")),
    batch: optional(fc.integer({ min: 1, max: 1000 })),
    retry: optional(retry),
  }),
  fc.record({ kind: fc.constant("Branch"), join: optional(fc.constantFrom("all", "any", 2)) }),
);
/** Its branches have states with names of their own. */
const branched = (one: { readonly kind: string }, at: number) =>
  one.kind !== "Branch"
    ? one
    : {
        ...one,
        branches: ["left", "right"].map((side) => ({
          name: side,
          initial_state: `__${side}_${at}`,
          states: { [`__${side}_${at}`]: { kind: "System", command: "noop", transitions: [] } },
        })),
      };

const manifest = fc.uniqueArray(name, { minLength: 1, maxLength: 12 }).chain((names) =>
  fc
    .record({
      bodies: fc.tuple(...names.map(() => fc.oneof(body, furtherBody))),
      targets: fc.array(fc.array(fc.constantFrom(...names), { maxLength: 3 }), {
        minLength: names.length,
        maxLength: names.length,
      }),
      asList: fc.boolean(),
    })
    .map(({ bodies, targets, asList }) => {
      const all = names.map(
        (one, at) =>
          [
            one,
            {
              ...branched(bodies[at] ?? { kind: "" }, at),
              transitions: targets[at]?.map((target) => ({ target })) ?? [],
            },
          ] as const,
      );
      const named = asList ? all.map(([one, state]) => ({ ...state, name: one })) : Object.fromEntries(all);
      const spec = { initial_state: names[0], storage: { shared_volumes: [{ name: "cache" }] }, states: named };
      return JSON.parse(
        JSON.stringify({ apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name: "w" }, spec }),
      ) as Json;
    }),
);

test("a generated good manifest is accepted, in either notation", () => {
  fc.assert(
    fc.property(manifest, (document) => {
      const { issues, definition } = judge(document);
      expect(issues).toEqual([]);
      const written = parseWorkflow(JSON.stringify(document));
      expect(written.document).toEqual(document);
      expect(judge(parseWorkflow(written.yaml).document).definition).toEqual(definition);
    }),
    { numRuns: 150 },
  );
});

describe("a body of a MiB is judged in well under a second", () => {
  const whole = (spec: object, metadata: object = {}) =>
    ({ apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name: "x", ...metadata }, spec }) as Json;
  const hundred = (of: (index: number) => object) =>
    whole({
      initial_state: "S0",
      states: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`S${at}`, of(at)])),
    });
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  const system = { kind: "System", transitions: [] };
  const cases: Readonly<Record<string, () => Json>> = {
    "keys of a state": () => whole({ initial_state: "A", states: { A: keys(70_000) } }),
    "values of the context": () => whole({ context: { a: Array(500_000).fill(1) } }),
    templates: () => hundred(() => ({ ...system, command: `echo ${"{{a}}".repeat(2000)}` })),
    "many templates": () =>
      whole({
        initial_state: "A",
        states: { A: { kind: "Agent", input: Array.from({ length: 80_000 }, (_, at) => `{{a${at}}}`) } },
      }),
    "templates that never end": () => hundred((at) => ({ kind: "Human", prompt: "{{a ".repeat(2500) + at })),
    "commands of many variants": () =>
      whole({
        initial_state: "S0",
        states: Object.fromEntries(
          Array.from({ length: 10 }, (_, at) => [
            `S${at}`,
            { ...system, command: "{{#if a}}x{{/if}}".repeat(10) + "a 'b' ".repeat(16_000) },
          ]),
        ),
      }),
    expressions: () =>
      hundred(() => ({
        ...system,
        command: "noop",
        transitions: Array.from({ length: 60 }, (_, at) => ({
          target: "S0",
          condition: "custom",
          expression: "eq ".repeat(30) + at,
        })),
      })),
    schemas: () => whole({}, { input_schema: { anyOf: Array.from({ length: 2300 }, (_, at) => ({ const: at })) } }),
    "all faults": () => hundred(() => keys(900)),
  };
  for (const [what, make] of Object.entries(cases)) {
    test(what, () => {
      const text = JSON.stringify(make());
      expect(text.length).toBeLessThanOrEqual(2 ** 20);
      const before = process.cpuUsage().user;
      const { issues } = judge(parseWorkflow(text).document);
      // Microseconds of this process, whatever else the machine does; generous, since tests run beside each other.
      expect(process.cpuUsage().user - before).toBeLessThan(1_500_000);
      expect(issues.length).toBeLessThanOrEqual(200);
    });
  }
});
