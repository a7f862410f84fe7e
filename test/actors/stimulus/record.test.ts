/** Rows of stimuli as clients read them. */
import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import {
  beginning,
  type FullStimulusRow,
  StimulusElement,
  StimulusRecord,
  shownBytes,
  stimulusElement,
  stimulusRecord,
} from "../../../actors/stimulus/record.ts";

const row: FullStimulusRow = {
  tenant: "north",
  id: "0198c200-0000-7000-8000-000000000001",
  source: "crm",
  channel: "api",
  status: "received",
  dead_letter: false,
  content: "New lead: Ada",
  content_encoding: "utf-8",
  content_type: "text/plain",
  content_size: 13,
  content_sha256: "ab",
  headers: '{"x-a":"1"}',
  headers_truncated: false,
  idempotency_key: "lead-88",
  duplicate_count: 2,
  source_id: null,
  run_id: "0198c200-0000-7000-8000-000000000002",
  classification: null,
  error_code: null,
  error_message: null,
  error_details: null,
  attempts: 1,
  taken_by: [],
  replay_of: null,
  replayed_by: null,
  received_by_kind: "operator",
  received_by_sub: "ada",
  received_at: new Date("2026-01-02T03:04:05.006Z"),
  last_event_at: new Date("2026-01-02T03:04:05.010Z"),
  discarded_at: null,
  discarded_by: null,
  discard_reason: null,
};
const detail = {
  routing_mode: "llm_classified",
  workflow_id: "0198b000-0000-7000-8000-000000000009",
  workflow_name: "qualify-lead",
  confidence: 0.9,
  threshold: 0.7,
  reasoning: "a lead",
  router_agent_id: null,
  router_execution_id: null,
} as const;

/** What does not fit; whether a time is one is seen below. */
const misfits = (schema: TSchema, value: unknown) =>
  [...Value.Errors(schema, value)].filter(({ message }) => !message.startsWith("Unknown format"));

test("a record always has every member", () => {
  const record = stimulusRecord(row);
  expect(misfits(StimulusRecord, record)).toEqual([]);
  const names = `id stimulus_id tenant_id source channel status dead_letter content content_encoding content_type content_size
    content_sha256 content_truncated headers idempotency_key duplicate_count classification classification_detail
    routing_mode workflow_id confidence rejection_reason classification_error error_code attempts workflow_execution_id
    route_id replay_of replayed_by received_by created_at received_at last_event_at discarded_at discarded_by`;
  expect(Object.keys(record)).toEqual(expect.arrayContaining(names.split(/\s+/)));
  expect(record).toMatchObject({
    id: row.id,
    stimulus_id: row.id,
    created_at: "2026-01-02T03:04:05.006Z",
    received_at: "2026-01-02T03:04:05.006Z",
    last_event_at: "2026-01-02T03:04:05.010Z",
    received_by: { kind: "operator", sub: "ada" },
    headers: { "x-a": "1" },
    content_truncated: false,
    classification: null,
    workflow_execution_id: null,
  });
});

test("a routed one tells its run and its workflow", () => {
  expect(stimulusRecord({ ...row, status: "classified", classification: detail })).toMatchObject({
    workflow_execution_id: row.run_id,
    classification: "qualify-lead",
    classification_detail: detail,
    routing_mode: "llm_classified",
    workflow_id: detail.workflow_id,
    confidence: 0.9,
  });
});

test.each([
  ["rejected", "no_router_configured", "why", null],
  ["classification_failed", "router_agent_failed", null, "why"],
  ["start_failed", "workflow_error", null, null],
  ["discarded", "classification_failed", "why", null],
  ["discarded", "unknown_workflow", null, "why"],
  ["discarded", "workflow_error", null, null],
  ["received", "router_agent_failed", null, null],
] as const)("a %s one with %s has the reason %p and the error %p", (status, error_code, reason, error) => {
  const record = stimulusRecord({ ...row, status, error_code, error_message: "why" });
  expect(record).toMatchObject({
    error_code,
    error_message: "why",
    rejection_reason: reason,
    classification_error: error,
    workflow_execution_id: null,
  });
});

test("a list shows no headers, and of a long content its beginning", () => {
  const short = stimulusElement(row);
  expect(short).not.toHaveProperty("headers");
  expect(short).toMatchObject({ content: row.content, content_truncated: false });
  expect(misfits(StimulusElement, short)).toEqual([]);
  const long = stimulusElement({ ...row, content: "x".repeat(shownBytes + 1) });
  expect(long).toMatchObject({ content: "x".repeat(shownBytes), content_truncated: true });
  expect(stimulusElement({ ...row, content: "x".repeat(shownBytes) }).content_truncated).toBe(false);
});

test("headers of any name come through", () => {
  const record = stimulusRecord({ ...row, headers: '{"__proto__":"x","constructor":"y"}' });
  expect(JSON.stringify(record.headers)).toBe('{"__proto__":"x","constructor":"y"}');
});

describe("the beginning of a text", () => {
  test.each([
    ["aé😀", 1, "a"],
    ["aé😀", 2, "a"],
    ["aé😀", 3, "aé"],
    ["aé😀", 6, "aé"],
    ["aé😀", 7, "aé😀"],
    ["€€", 5, "€"],
    ["", 0, ""],
  ])("%p of %d bytes is %p", (text, bytes, cut) => {
    expect(beginning(text, bytes)).toBe(cut);
  });

  test("fits, is as long as possible and cuts no character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat(100), (text, bytes) => {
        const cut = beginning(text, bytes);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
        const [next = ""] = text.slice(cut.length);
        const whole = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
        if (next !== "") expect(Buffer.byteLength(cut + whole)).toBeGreaterThan(bytes);
      }),
    );
  });
});
