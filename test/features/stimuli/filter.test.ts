/** What sources pass over, by the names that each preset has for events (docs/reference/stimuli.md). */
import { describe, expect, test } from "bun:test";
import { type Metric, Registry } from "prom-client";
import type { Json } from "../../../actors/kernel/json.ts";
import { createFilter } from "../../../src/features/stimuli/intake/filter.ts";
import { stimulusMetrics } from "../../../src/features/stimuli/intake/metrics.ts";
import { noteIgnored } from "../../../src/features/stimuli/sources/ignored.ts";
import type { IgnoredMessage, StimulusSource } from "../../../src/features/stimuli/sources/port.ts";
import type { IgnoredMark } from "../../../src/features/stimuli/sources/records.ts";

function opened() {
  const told: IgnoredMessage[] = [];
  const counted: IgnoredMessage[] = [];
  const filter = createFilter({
    sources: { ignored: (_, what) => void told.push(what) },
    count: (_, what) => void counted.push(what),
    now: () => 0,
  });
  return { filter, told, counted };
}

const sourceOf = (fields: Partial<StimulusSource>): StimulusSource =>
  ({ tenant: "north", source: "hub", preset: "github", events: [], match: null, ...fields }) as StimulusSource;

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: Json;
}

function answer(fields: Partial<StimulusSource> | null, { headers = {}, payload = null }: Sent) {
  const message = { headers: new Headers(headers), payload: () => payload };
  return opened().filter(fields === null ? null : sourceOf(fields), message);
}

const github = (event: string) => ({ "x-github-event": event });

describe("events", () => {
  test.each<[string, Partial<StimulusSource>, Sent, string | null | undefined]>([
    ["github by its header", { events: ["push"] }, { headers: github("push") }, undefined],
    [
      "github with any action",
      { events: ["issues"] },
      { headers: github("issues"), payload: { action: "x" } },
      undefined,
    ],
    [
      "github with one action",
      { events: ["issues.opened"] },
      { headers: github("issues"), payload: { action: "opened" } },
      undefined,
    ],
    [
      "github with another",
      { events: ["issues.opened"] },
      { headers: github("issues"), payload: { action: "closed" } },
      "issues.closed",
    ],
    [
      "github without an action",
      { events: ["issues.opened"] },
      { headers: github("issues"), payload: { action: 7 } },
      "issues",
    ],
    ["github without an event", { events: ["push"] }, { payload: { action: "opened" } }, null],
    ["stripe", { preset: "stripe", events: ["invoice.paid"] }, { payload: { type: "invoice.paid" } }, undefined],
    [
      "stripe, another",
      { preset: "stripe", events: ["invoice.paid"] },
      { payload: { type: "invoice.void" } },
      "invoice.void",
    ],
    ["slack", { preset: "slack", events: ["message"] }, { payload: { event: { type: "message" } } }, undefined],
    [
      "slack, the envelope",
      { preset: "slack", events: ["event_callback"] },
      { payload: { type: "event_callback", event: { type: "message" } } },
      "message",
    ],
    [
      "standard webhooks",
      { preset: "standard_webhooks", events: ["user.made"] },
      { payload: { type: "user.gone" } },
      "user.gone",
    ],
    ["a payload that is none", { preset: "slack", events: ["message"] }, { payload: "message" }, null],
  ])("of %s", (_, fields, sent, ignored) => {
    const found = answer(fields, sent);
    if (ignored === undefined) expect(found).toBeNull();
    else expect(found).toMatchObject({ status: "ignored", reason: "event", event: ignored, stimulus_id: null });
  });

  test("a name that a sender makes up is shown short and plain", () => {
    const payload = { type: `a\n${"x".repeat(500)}` };
    const found = answer({ preset: "stripe", events: ["b"] }, { payload });
    expect(found?.event).toBe(`a?${"x".repeat(126)}`);
  });
});

test("a match sees payload and all headers that may be forwarded, no secret ones", () => {
  const sees = (match: string) =>
    answer(
      { match, forwardHeaders: ["x-other"] },
      { headers: { "X-Kind": "a", Authorization: "b" }, payload: { n: 1 } },
    );
  expect(sees('headers.x-kind == "a" && payload.n == 1')).toBeNull();
  expect(sees('headers.authorization == "b"')).toMatchObject({ reason: "match", event: null });
});

test("without filters, and without a source, nothing is passed over", () => {
  expect(answer({}, {})).toBeNull();
  expect(answer(null, {})).toBeNull();
});

test("what is passed over is told to operators, each time", () => {
  const { filter, told, counted } = opened();
  const source = sourceOf({ events: ["push"] });
  for (const event of ["ping", "fork"]) filter(source, { headers: new Headers(github(event)), payload: () => null });
  const expected = ["ping", "fork"].map((event) => ({ reason: "event", event }));
  expect([told, counted]).toEqual([expected, expected] as IgnoredMessage[][]);
});

test("a thousand sources have a series of their own, the others share one", async () => {
  const metrics = stimulusMetrics();
  for (let one = 0; one < 1_005; one++) metrics.ignored({ tenant: "t", source: `s${one}` }, { reason: "match" });
  metrics.ignored({ tenant: "t", source: "s3" }, { reason: "match" });
  const registry = new Registry();
  for (const metric of metrics.all) registry.registerMetric(metric as Metric);
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("svc_stimuli_ignored_total{"));
  expect(lines).toHaveLength(1_001);
  expect(lines).toContain('svc_stimuli_ignored_total{tenant="t",source="s3",reason="match"} 2');
  expect(lines).toContain('svc_stimuli_ignored_total{tenant="",source="",reason="match"} 5');
});

test("counts are written down together, and kept while they cannot be", async () => {
  const written: IgnoredMark[] = [];
  let isAway = true;
  const reported: string[] = [];
  const notes = noteIgnored(
    async (marks) => {
      if (isAway) throw new Error("away");
      written.push(...marks);
    },
    (event) => {
      reported.push(event);
      isAway = false;
    },
    1,
  );
  const source = { tenant: "north", id: "a" };
  notes.note(source, { reason: "event", event: "late" }, 2_000);
  notes.note(source, { reason: "match", event: null }, 1_000);
  while (reported.length === 0) await Bun.sleep(1);
  notes.note(source, { reason: "event", event: "last" }, 3_000);
  await notes.close();
  expect(reported).toEqual(["ignored_stimuli_not_written"]);
  expect(written.reduce((sum, { count }) => sum + count, 0)).toBe(3);
  expect(written.at(-1)).toMatchObject({ event: "last", reason: "event", at: new Date(3_000) });
});
