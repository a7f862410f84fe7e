/** What a host made of a call, as the tool's outcome (docs/reference/edge-agents.md). */
import { describe, expect, test } from "bun:test";
import { type OverOutcome, outcomeOnHost } from "../../../../src/features/edge/agent-calls/outcome.ts";

type Ended = Extract<OverOutcome, { is: "ended" }>;
const ended = (change: Partial<Ended>): Ended => ({
  ...{ is: "ended", status: "ok", command_id: "c", node_id: "n", exit_code: 0, error_kind: null, error_message: null },
  ...{ stdout_tail: "out", stderr_tail: "err", structured: null, ...change },
});
const place = { edge_node_id: "n", fleet_command_id: "r", command_id: "c" };

describe("a result", () => {
  test("is what the tool says, with host and run", () => {
    const structured = { path: "/srv/a", content: "x", truncated: false };
    expect(outcomeOnHost("fs.read", "r", ended({ structured }))).toEqual({
      status: "succeeded",
      result: { ...structured, ...place },
    });
  });
  test("that names another host or run does not hide the true ones", () => {
    const structured = { edge_node_id: "other", fleet_command_id: "other" };
    expect(outcomeOnHost("fs.read", "r", ended({ structured }))).toMatchObject({ result: place });
  });
  test("of a host that says nothing is the end of its output", () => {
    expect(outcomeOnHost("cmd.run", "r", ended({}))).toMatchObject({
      result: { exit_code: 0, stdout: "out", stderr: "err" },
    });
  });
  test.each([
    ["err", "nonzero_exit", { exit_code: 3, stdout: "", stderr: "no" }],
    ["timed_out", "timeout", { exit_code: -1, stdout: "", stderr: "", timed_out: true }],
  ])("of a command is one, although it ended as %s", (status, error_kind, structured) => {
    const outcome = outcomeOnHost("cmd.run", "r", ended({ status, error_kind, structured }));
    expect(outcome).toMatchObject({ status: "succeeded", result: structured });
  });
});

test.each([
  ["cmd.run", "refused", "policy_violation", "policy_violation"],
  ["fs.read", "err", "path_not_allowed", "path_not_allowed"],
  ["fs.edit", "err", "multiple_matches", "multiple_matches"],
  ["cmd.run", "refused", "invalid_args", "invalid_arguments"],
  ["fs.read", "timed_out", "timeout", "timeout"],
  ["fs.read", "timed_out", null, "timeout"],
  ["cmd.run", "lost", "journal_lost", "journal_lost"],
  ["cmd.run", "cancelled", null, "cancelled"],
  ["cmd.run", "err", "spawn_failed", "spawn_failed"],
])("%s that ends as %s by %s fails as %s", (tool, status, error_kind, code) => {
  const outcome = outcomeOnHost(tool, "r", ended({ status, error_kind, error_message: "why" }));
  expect(outcome).toMatchObject({ status: "failed", code, message: "why", details: { ...place, host_status: status } });
});

test.each([
  ["approval_rejected", "rejected_by_person"],
  ["approval_timed_out", "approval_timed_out"],
  ["no_targets", "edge_disconnected"],
  ["run_deadline", "timeout"],
  ["cancelled", "cancelled"],
  ["not_started", "cancelled"],
])("a run that ran nothing because of %s is %s", (reason, code) => {
  expect(outcomeOnHost("cmd.run", "r", { is: "not_run", reason })).toMatchObject({
    status: "failed",
    code,
    details: { fleet_command_id: "r" },
  });
});
