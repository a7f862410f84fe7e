/** What answers mean: the tables of docs/reference/approvals.md. */
import { describe, expect, test } from "bun:test";
import { resultOf, signalAnswer, signalText, timeoutAnswer, verdictOf } from "../../../actors/approval/answers.ts";
import { openBody } from "./fixture.ts";

describe("a text", () => {
  test.each(["yes", "y", "1", "true", "approve", "approved", "YES", "Approved"])("%s is a yes", (text) => {
    expect(verdictOf(text)).toBe("approved");
  });
  test.each(["no", "n", "0", "false", "reject", "rejected", "No", "REJECT"])("%s is a no", (text) => {
    expect(verdictOf(text)).toBe("rejected");
  });
  test.each(["", "maybe", " yes", "yes!", "approve it", "constructor", "__proto__"])("%j is neither", (text) => {
    expect(verdictOf(text)).toBe("responded");
  });
});

test.each([
  [{ response: "yes", signal_name: "reject", payload: "no" }, "yes"],
  [{ response: "", signal_name: "reject", payload: "no" }, ""],
  [{ response: null, signal_name: "go", payload: "ok" }, "ok"],
  [{ response: null, signal_name: "go", payload: { response: "later" } }, "later"],
  [{ response: null, signal_name: "go", payload: { response: true } }, "true"],
  [{ response: null, signal_name: "go", payload: { response: 1 } }, "1"],
  [{ response: null, signal_name: "go", payload: { response: { deep: 1 } } }, "go"],
  [{ response: null, signal_name: "go", payload: { other: "x" } }, "go"],
  [{ response: null, signal_name: "go", payload: ["yes"] }, "go"],
  [{ response: null, signal_name: "approve", payload: null }, "approve"],
  [{ response: null, signal_name: null, payload: null }, null],
])("the text of the signal %j is %j", (signal, text) => {
  expect(signalText(signal)).toBe(text);
});

test.each([
  ["approve", "whatever", "approved"],
  ["REJECT", "yes", "rejected"],
  ["comment", "yes", "approved"],
  ["comment", "no", "rejected"],
  ["comment", "42", "responded"],
  [null, "True", "approved"],
  [null, "0", "rejected"],
  [null, "ask Ada", "responded"],
] as const)("a signal named %j with the text %j is %s", (name, text, verdict) => {
  expect(signalAnswer(name, text)).toEqual({ status: verdict, decision: verdict, response: text, feedback: null });
});

const facts = { by: null, at: "2031-05-02T08:00:00.000Z", payload: null, approved_by: null, rejected_by: null };

describe("when no answer comes in time", () => {
  test.each([
    [{ default_response: "yes" }, { status: "success", decision: "approved", response: "yes", feedback: null }],
    [
      { default_response: "no" },
      { status: "failed", decision: "rejected", response: "no", feedback: null, error: "approval_rejected" },
    ],
    [{ default_response: "plan B" }, { status: "success", decision: "responded", response: "plan B", feedback: null }],
    [
      { default_response: "yes", reject_on_timeout: true },
      { status: "success", decision: "approved", response: "yes", feedback: null },
    ],
    [
      { reject_on_timeout: true },
      {
        status: "failed",
        decision: "rejected",
        response: "rejected",
        feedback: "timed out",
        error: "approval_rejected",
      },
    ],
    [{}, { status: "failed", decision: "timed_out", response: "", feedback: null, error: "human_input_timeout" }],
  ])("%j", (settings, result) => {
    const answer = timeoutAnswer(openBody(settings));
    expect(answer.status).toBe("timed_out");
    expect(resultOf("a", answer, facts)).toEqual({
      ...result,
      payload: null,
      approved_by: null,
      rejected_by: null,
      decided_by: null,
      decided_at: facts.at,
      timeout: true,
      approval_id: "a",
    });
  });
});

test("a person's answer is no timeout, and names who gave it", () => {
  const by = { sub: "ada", kind: "operator", email: "ada@example.com" };
  const answer = { status: "approved", decision: "approved", response: "approved", feedback: "fine" } as const;
  expect(resultOf("a", answer, { ...facts, by, approved_by: "the board", payload: { n: 1 } })).toEqual({
    status: "success",
    decision: "approved",
    response: "approved",
    feedback: "fine",
    payload: { n: 1 },
    approved_by: "the board",
    rejected_by: null,
    decided_by: by,
    decided_at: facts.at,
    timeout: false,
    approval_id: "a",
  });
});
