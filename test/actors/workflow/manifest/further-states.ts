/** Good states of the further kinds that say everything, and what they resolve to. */
import type { Json } from "../../../../actors/kernel/json.ts";

const on = [{ condition: "on_failure", target: "END" }, { target: "B" }];
const retry = { attempts: 3, delay: "2s", backoff: 3, max_delay: "1m", on: ["unexpected_response", "timed_out"] };

export const furtherStates = {
  Wait: {
    kind: "Wait",
    stimulus: {
      source: "shop",
      key: "order.id",
      equals: "{{input.order}}",
      match: 'payload.paid == true && headers.kind == "x"',
    },
    timeout: "1h",
    transitions: on,
  },
  Map: {
    kind: "Map",
    items: [1, "{{input.second}}"],
    state: {
      kind: "Http",
      url: "https://example.com/{{thing.id}}",
      headers: { Authorization: "secret:shop/key#token" },
      timeout: 5,
      retry,
    },
    as: "thing",
    concurrency: 7,
    batch: 50,
    tolerate: "12.5%",
    timeout: "1h",
    retry: { attempts: 2 },
    transitions: on,
  },
  Branch: {
    kind: "Branch",
    join: 2,
    branches: [
      {
        name: "left",
        initial_state: "L1",
        states: {
          L1: { kind: "Human", prompt: "Go on?", transitions: [{ condition: "approved", target: "L2" }] },
          L2: { kind: "System", command: "noop", transitions: [] },
        },
      },
      {
        name: "right",
        initial_state: "R1",
        states: [{ name: "R1", kind: "Agent", agent: "writer", input: "{{input.text}}", transitions: [] }],
      },
    ],
    timeout: "2h",
    retry: { attempts: 2, on: ["join_not_met"] },
    transitions: on,
  },
  Tool: {
    kind: "Tool",
    tool: "files.{{input.verb}}",
    arguments: { path: "{{input.path}}", deep: [{ of: "{{workflow.name}}" }] },
    timeout: "5m",
    retry,
    transitions: on,
  },
  Fleet: {
    kind: "Fleet",
    target: { Selector: { tags: ["web"] } },
    tool: "fs.read",
    args: { path: "/etc/{{input.file}}" },
    policy: { mode: { Rolling: { batch: 5 } }, failure_policy: "ContinueOnError" },
    timeout: "30m",
    retry,
    transitions: on,
  },
  Http: {
    kind: "Http",
    url: "https://example.com/{{input.id}}",
    method: "PATCH",
    headers: { Authorization: "secret:shop/key", "X-Id": "{{input.id}}" },
    body: { id: "{{input.id}}", more: [1] },
    expect: { status: [204, 200, 204], schema: { type: "object" } },
    timeout: "10s",
    retry,
    transitions: on,
  },
} as const satisfies Record<string, Json>;

const always = { condition: "always", rule: { on: "always" }, feedback: null };
const resolvedOn = [
  { condition: "on_failure", rule: { on: "on_failure" }, target: "END", feedback: null },
  { ...always, target: "B" },
];
const ends = { max_state_visits: 5, outcome: "completed" };
const resolvedRetry = {
  attempts: 3,
  delay_ms: 2000,
  backoff: 3,
  max_delay_ms: 60_000,
  on: ["unexpected_response", "timed_out"],
};
const usualRetry = { attempts: 2, delay_ms: 1000, backoff: 2, max_delay_ms: 300_000, on: ["all"] };

export const furtherResolved: Readonly<Record<keyof typeof furtherStates, object>> = {
  Wait: {
    kind: "Wait",
    timeout_ms: 3_600_000,
    for: {
      what: "stimulus",
      source: "shop",
      key: "order.id",
      equals: "{{input.order}}",
      match: 'payload.paid == true && headers.kind == "x"',
    },
    transitions: resolvedOn,
    ...ends,
  },
  Map: {
    kind: "Map",
    timeout_ms: 3_600_000,
    items: [1, "{{input.second}}"],
    item: {
      kind: "Http",
      timeout_ms: 5000,
      url: "https://example.com/{{thing.id}}",
      method: "GET",
      headers: { Authorization: "secret:shop/key#token" },
      body: null,
      expect: { status: [], schema: null },
      retry: resolvedRetry,
      transitions: [],
      max_state_visits: 1,
      outcome: "completed",
    },
    as: "thing",
    concurrency: 7,
    batch: 50,
    tolerate: { percent: 12.5 },
    retry: usualRetry,
    transitions: resolvedOn,
    ...ends,
  },
  Branch: {
    kind: "Branch",
    timeout_ms: 7_200_000,
    branches: [
      { name: "left", initial_state: "L1" },
      { name: "right", initial_state: "R1" },
    ],
    join: 2,
    retry: { ...usualRetry, on: ["join_not_met"] },
    transitions: resolvedOn,
    ...ends,
  },
  Tool: {
    kind: "Tool",
    timeout_ms: 300_000,
    tool: "files.{{input.verb}}",
    arguments: { path: "{{input.path}}", deep: [{ of: "{{workflow.name}}" }] },
    retry: resolvedRetry,
    transitions: resolvedOn,
    ...ends,
  },
  Fleet: {
    kind: "Fleet",
    timeout_ms: 1_800_000,
    target: { Selector: { tags: ["web"] } },
    tool: "fs.read",
    args: { path: "/etc/{{input.file}}" },
    command: null,
    policy: { mode: { Rolling: { batch: 5 } }, failure_policy: "ContinueOnError" },
    retry: resolvedRetry,
    transitions: resolvedOn,
    ...ends,
  },
  Http: {
    kind: "Http",
    timeout_ms: 10_000,
    url: "https://example.com/{{input.id}}",
    method: "PATCH",
    headers: { Authorization: "secret:shop/key", "X-Id": "{{input.id}}" },
    body: { id: "{{input.id}}", more: [1] },
    expect: { status: [200, 204], schema: { type: "object" } },
    retry: resolvedRetry,
    transitions: resolvedOn,
    ...ends,
  },
};
