/** The table of states of a stimulus (docs/reference/stimuli.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  discardOf,
  failedStatusOf,
  maxAttempts,
  replayRefusal,
  retryAt,
  StimulusStatus as Statuses,
  type StimulusStatus,
} from "../../../actors/stimulus/statuses.ts";

const statuses = Statuses.anyOf.map((one) => one.const);

test.each([
  ["classification_failed", "rejected"],
  ["no_router_configured", "rejected"],
  ["unknown_workflow", "classification_failed"],
  ["classification_parse_error", "classification_failed"],
  ["router_agent_failed", "classification_failed"],
  ["workflow_error", "start_failed"],
  ["rate_limited", "start_failed"],
  ["service_unavailable", "start_failed"],
  ["__proto__", "start_failed"],
  ["constructor", "start_failed"],
])("a failure with %s ends as %s", (code, status) => {
  expect(failedStatusOf(code)).toBe(status as ReturnType<typeof failedStatusOf>);
});

describe("a failed attempt", () => {
  const attempt = { acknowledge: "received", failures: 0, code: "workflow_error", now: 1_000 } as const;

  test.each([
    [0, 10_000],
    [1, 20_000],
    [2, 40_000],
    [3, 80_000],
  ])("after %d others that failed is followed by one after %d ms", (failures, ms) => {
    for (const code of ["workflow_error", "router_agent_failed", "rate_limited"]) {
      expect(retryAt({ ...attempt, failures, code })).toBe(1_000 + ms);
    }
  });

  test.each([
    [{ failures: 4 }],
    [{ failures: 9 }],
    [{ acknowledge: "routed" as const }],
    [{ code: "classification_failed" }],
    [{ code: "no_router_configured" }],
    [{ code: "classification_parse_error" }],
    [{ code: "unknown_workflow" }],
  ])("with %j is the last one", (facts) => {
    expect(retryAt({ ...attempt, ...facts })).toBeNull();
  });

  test("is never followed by more than four, at most 80 s later", () => {
    fc.assert(
      fc.property(fc.nat(20), fc.string(), fc.boolean(), fc.nat(), (failures, code, waits, now) => {
        const at = retryAt({ acknowledge: waits ? "routed" : "received", failures, code, now });
        if (at === null) return;
        expect(waits).toBe(false);
        expect(failures).toBeLessThan(maxAttempts - 1);
        expect(at - now).toBeGreaterThanOrEqual(10_000);
        expect(at - now).toBeLessThanOrEqual(80_000);
      }),
    );
  });
});

const none = { replayed: false, keyed: false, replaying: false };
type Facts = Partial<typeof none>;

describe("a replay", () => {
  test.each([
    ["received", {}, "stimulus_in_progress", "stimulus_in_progress"],
    ["classified", {}, "stimulus_already_routed", null],
    ["discarded", {}, "stimulus_discarded", null],
    ["rejected", {}, null, null],
    ["classification_failed", {}, null, null],
    ["start_failed", {}, null, null],
    ["start_failed", { replaying: true }, "stimulus_in_progress", null],
    ["start_failed", { replayed: true }, "stimulus_already_routed", null],
    ["start_failed", { replayed: true, keyed: true }, null, null],
    ["classified", { keyed: true }, "stimulus_already_routed", null],
    ["discarded", { replayed: true, replaying: true }, "stimulus_discarded", null],
  ] as const)("of a %s one, %j, is refused with %p, forced with %p", (status, facts: Facts, unforced, forced) => {
    expect(replayRefusal({ status, ...none, ...facts }, false)).toBe(unforced);
    expect(replayRefusal({ status, ...none, ...facts }, true)).toBe(forced);
  });
});

test.each([
  ["received", false, "not_a_dead_letter"],
  ["classified", false, "not_a_dead_letter"],
  ["start_failed", true, "discard"],
  ["rejected", true, "discard"],
  ["classification_failed", true, "discard"],
  ["start_failed", false, "not_a_dead_letter"],
  ["discarded", false, "nothing"],
] as const)("discarding a %s one (dead letter: %p) is %s", (status, deadLetter, outcome) => {
  expect(discardOf({ status, deadLetter })).toBe(outcome);
});

/** Any messages in any order, done as the decisions say. */
test("a dead letter has always failed; received, routed, discarded ones are none", () => {
  const message = fc.oneof(
    fc.record({ of: fc.constant("ended" as const), code: fc.constantFrom(null, "workflow_error", "unknown_workflow") }),
    fc.record({ of: fc.constant("replay" as const), force: fc.boolean(), works: fc.boolean() }),
    fc.record({ of: fc.constant("discard" as const) }),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), fc.boolean(), (messages, keyed) => {
      let status: StimulusStatus = "received";
      let deadLetter = false;
      let runs = 0;
      let forced = 0;
      for (const one of messages) {
        const before: StimulusStatus = status;
        if (one.of === "ended" && status === "received") {
          status = one.code === null ? "classified" : failedStatusOf(one.code);
          deadLetter = one.code !== null;
          runs += one.code === null ? 1 : 0;
        } else if (one.of === "replay") {
          const refusal = replayRefusal({ status, replayed: runs > 0, keyed, replaying: false }, one.force);
          // A key is held by whatever ran under it.
          const isHeld = keyed && runs > 0 && !one.force;
          if (refusal === null && !isHeld && one.works) {
            deadLetter = false;
            runs += 1;
            forced += one.force ? 1 : 0;
          }
        } else if (one.of === "discard" && discardOf({ status, deadLetter }) === "discard") {
          status = "discarded";
          deadLetter = false;
        }
        if (deadLetter) expect(["rejected", "classification_failed", "start_failed"]).toContain(status);
        if (before === "discarded") expect(status).toBe("discarded");
        expect(statuses).toContain(status);
        expect(runs - forced).toBeLessThanOrEqual(1);
      }
    }),
  );
});
