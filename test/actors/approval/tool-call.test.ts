/** A tool call that waits for a person, as its approval sees it (docs/reference/approvals.md). */
import { describe, expect, test } from "bun:test";
import type { Open } from "../../../actors/approval/messages.ts";
import { pendingApproval } from "../../../actors/approval/record.ts";
import type { CallToAsk } from "../../../actors/approval/tool-call.ts";
import {
  approveBody,
  argumentsOf,
  byLink,
  linkBody,
  person,
  rejectBody,
  signalBody,
  toolCallBody,
  unopened,
} from "./fixture.ts";
import { ada, bob, id, notes, stateOf, told, types } from "./opened.ts";

function asked(changes: Partial<CallToAsk> = {}, more: Partial<Open> = {}) {
  const one = unopened();
  one.tell("open", toolCallBody(changes, more));
  return one;
}
const shown = (one: ReturnType<typeof unopened>) => pendingApproval(id, "north", stateOf(one)).tool_call;
const eva = person("eva");

describe("a question about a tool call", () => {
  test("shows the call, escaped, with the model's words cut to 2 KiB", () => {
    const one = asked({
      arguments: argumentsOf({ title: "safe\u202e" }),
      model_reason: `because\u0007 ${"x".repeat(3000)}`,
      agent_name: "clerk\u2066",
    });
    expect(shown(one)).toMatchObject({
      tool: "tickets.create",
      arguments: { title: "safe\\u202e" },
      truncated: false,
      editable: true,
      edited: false,
      executed: null,
      agent_name: "clerk\\u2066",
    });
    expect(shown(one)?.model_reason?.startsWith("because\\u0007 xxx")).toBe(true);
    expect(shown(one)?.model_reason).toHaveLength(2048);
  });

  test("arguments of 65 KiB are cut, stand whole in the log and cannot be edited", () => {
    const large = argumentsOf({ text: "y".repeat(65 * 1024) });
    const one = asked({ arguments: large });
    expect(shown(one)).toMatchObject({ truncated: true, editable: false });
    expect(shown(one)?.arguments).toHaveLength(65_536);
    expect(one.log("arguments")).toEqual([{ shown: large.redacted, sha256: large.sha256 }]);
    expect(stateOf(one).call?.given).toBeNull();
    const edit = argumentsOf({ text: "short" });
    expect(one.askNow("approve", approveBody(ada, { arguments: edit }))).toEqual({
      outcome: "unfit",
      code: "arguments_not_editable",
    });
    expect(stateOf(one).status).toBe("pending");
  });

  test("of another kind has none, takes no arguments and remembers nothing", () => {
    const one = unopened();
    const { arguments: _, tool_call: __, ...body } = toolCallBody({}, { kind: "workflow" });
    one.tell("open", body);
    expect(shown(one)).toBeNull();
    const edited = { arguments: argumentsOf({ a: 1 }) };
    expect(one.askNow("approve", approveBody(ada, edited))).toMatchObject({ code: "arguments_not_editable" });
    expect(one.askNow("approve", approveBody(ada, { remember: "tool" }))).toMatchObject({
      code: "remember_not_allowed",
    });
    expect(one.askNow("approve", approveBody(ada, { remember: "none" }))).toMatchObject({ outcome: "decided" });
    expect(told(one)).not.toHaveProperty("remember");
  });
});

describe("an approval of a tool call", () => {
  test("tells its owner, without arguments where they were not edited", () => {
    const one = asked();
    expect(one.askNow("approve", approveBody(ada))).toMatchObject({ outcome: "decided", status: "approved" });
    expect(told(one)).toMatchObject({ status: "approved", remember: "none" });
    expect(told(one)).not.toHaveProperty("arguments");
    expect(stateOf(one).call?.given).toBeNull();
  });

  test("with an edit tells it whole, and keeps both in the log", () => {
    const one = asked();
    const edit = argumentsOf({ title: "Printer broken", priority: "low" });
    expect(one.askNow("approve", approveBody(ada, { arguments: edit }))).toMatchObject({ outcome: "decided" });
    expect(told(one)).toMatchObject({ status: "approved", arguments: edit.given });
    expect(shown(one)).toMatchObject({ arguments: edit.given, arguments_sha256: edit.sha256, edited: true });
    expect(one.log("arguments")).toHaveLength(2);
    expect(types(one)).toEqual(["requested", "edited", "approved"]);
    expect(notes(one, "edited")).toEqual(["priority"]);
  });

  test("with the arguments as they are is no edit", () => {
    const one = asked();
    const same = argumentsOf({ title: "Printer broken", priority: "high" });
    one.askNow("approve", approveBody(ada, { arguments: same }));
    expect(told(one)).not.toHaveProperty("arguments");
    expect(shown(one)?.edited).toBe(false);
  });

  test("that is not editable refuses an edit and stays pending", () => {
    const one = asked({ editable: false });
    const reply = one.askNow("approve", approveBody(ada, { arguments: argumentsOf({ title: "x" }) }));
    expect(reply).toEqual({ outcome: "unfit", code: "arguments_not_editable" });
    expect(one.askNow("approve", approveBody(ada))).toMatchObject({ outcome: "decided" });
  });

  test("stays pending after two approvals of one person where two people are needed", () => {
    const one = asked({}, { quorum: 2 });
    expect(one.askNow("approve", approveBody(ada))).toEqual({ outcome: "counted", approvals: 1, quorum: 2 });
    expect(one.askNow("approve", approveBody(ada))).toEqual({ outcome: "counted", approvals: 1, quorum: 2 });
    expect(one.askNow("approve", approveBody(bob))).toMatchObject({ outcome: "decided" });
  });

  test("an edit starts the quorum anew; a voided approval repeated counts no more", () => {
    const one = asked({}, { quorum: 2 });
    one.askNow("approve", approveBody(ada, { work_id: "w-ada" }));
    const edit = argumentsOf({ title: "Other", priority: "high" });
    const edited = one.askNow("approve", approveBody(bob, { arguments: edit, work_id: "w-bob" }));
    expect(edited).toEqual({ outcome: "counted", approvals: 1, quorum: 2 });
    const again = one.askNow("approve", approveBody(ada, { work_id: "w-ada" }));
    expect(again).toEqual({ outcome: "counted", approvals: 1, quorum: 2 });
    expect(stateOf(one).status).toBe("pending");
    expect(one.askNow("approve", approveBody(eva))).toMatchObject({ outcome: "decided" });
    expect(told(one)).toMatchObject({ arguments: edit.given });
  });

  test("one rejection rejects, also after approvals", () => {
    const one = asked({}, { quorum: 3 });
    one.askNow("approve", approveBody(ada));
    one.askNow("reject", rejectBody(bob, { reason: "not this week" }));
    expect(told(one)).toMatchObject({ status: "rejected", reason: "not this week" });
    expect(told(one)).not.toHaveProperty("remember");
  });
});

describe("what an approver has seen", () => {
  const before = argumentsOf({ title: "Printer broken", priority: "high" }).sha256;
  const edit = argumentsOf({ title: "Other", priority: "high" });

  test("no longer stands once another has changed it: nothing is decided", () => {
    const one = asked({}, { quorum: 2 });
    one.askNow("approve", approveBody(bob, { arguments: edit, seen_sha256: before }));
    const late = one.askNow("approve", approveBody(ada, { seen_sha256: before }));
    expect(late).toEqual({ outcome: "unfit", code: "arguments_changed" });
    expect(stateOf(one).status).toBe("pending");
    expect(one.askNow("approve", approveBody(ada, { seen_sha256: edit.sha256 }))).toMatchObject({ outcome: "decided" });
  });

  test("by a link, which stays good", () => {
    const one = asked({}, { quorum: 2, approvers: ["user:bob", "email:zoe@example.com"] });
    one.askNow("issue_link", linkBody(null, "zoe@example.com", "h"));
    one.askNow("approve", approveBody(bob, { arguments: edit }));
    const late = { ...byLink("h"), seen_sha256: before };
    expect(one.askNow("decide_by_link", late)).toEqual({ outcome: "unfit", code: "arguments_changed" });
    const seen = { ...byLink("h"), seen_sha256: edit.sha256 };
    expect(one.askNow("decide_by_link", seen)).toMatchObject({ outcome: "decided" });
  });
});

describe("a grant beside the approval", () => {
  test("above what is offered is refused, and the call still waits", () => {
    const one = asked({ remember: "execution" });
    const reply = one.askNow("approve", approveBody(ada, { remember: "tool" }));
    expect(reply).toEqual({ outcome: "unfit", code: "remember_not_allowed" });
    expect(one.askNow("approve", approveBody(ada, { remember: "execution" }))).toMatchObject({ outcome: "decided" });
    expect(told(one)).toMatchObject({ remember: "execution" });
  });

  test("of several people is the narrowest that all of them gave", () => {
    const one = asked({ remember: "tool" }, { quorum: 2 });
    one.askNow("approve", approveBody(ada, { remember: "tool" }));
    one.askNow("approve", approveBody(bob, { remember: "execution" }));
    expect(told(one)).toMatchObject({ remember: "execution" });
  });
});

describe("who decides about a tool call", () => {
  test("no agent, even where the question allows agents, and no signal", () => {
    const one = asked({}, { allow_agents: true });
    const agent = person("bot", { kind: "agent" });
    expect(one.askNow("approve", approveBody(agent))).toMatchObject({ code: "approver_not_allowed" });
    expect(one.askNow("signal", signalBody(ada, "yes"))).toMatchObject({ code: "approver_not_allowed" });
    expect(stateOf(one).status).toBe("pending");
  });

  test("a decision link only for an address among the approvers", () => {
    const open = asked();
    const anyone = open.askNow("issue_link", linkBody(ada, "ada@example.com", "h1"));
    expect(anyone).toEqual({ outcome: "forbidden", code: "approver_not_allowed" });
    const named = asked({}, { approvers: ["user:ada", "email:zoe@example.com"] });
    expect(named.askNow("issue_link", linkBody(ada, "ada@example.com", "h1"))).toMatchObject({ outcome: "forbidden" });
    expect(named.askNow("issue_link", linkBody(ada, "zoe@example.com", "h2"))).toMatchObject({ outcome: "issued" });
    expect(named.askNow("decide_by_link", byLink("h2"))).toMatchObject({ outcome: "decided" });
  });
});

describe("who is excluded by forbid_initiator", () => {
  const approvers = ["email:ida@example.com", "email:zoe@example.com", "user:ida"];
  const ida = { kind: "operator", sub: "ida", email: "ida@example.com", realm: "system" };
  const forbidding = (more: Partial<Open>) => asked({}, { approvers, forbid_initiator: true, initiator: ida, ...more });
  const link = (one: ReturnType<typeof asked>, to: string) => one.askNow("issue_link", linkBody(null, to, to));

  test("the initiator, by a mailed link too; another's link is good", () => {
    const one = forbidding({});
    const own = one.askNow("approve", approveBody(person("ida")));
    expect(own).toEqual({ outcome: "forbidden", code: "self_approval_forbidden" });
    expect(link(one, "IDA@example.com")).toEqual({ outcome: "forbidden", code: "self_approval_forbidden" });
    expect(link(one, "zoe@example.com")).toMatchObject({ outcome: "issued" });
  });

  test("who opened the session of the call", () => {
    const one = forbidding({ initiator: { ...ida, sub: "uma", email: "uma@example.com" }, opener: ida });
    expect(link(one, "ida@example.com")).toMatchObject({ code: "self_approval_forbidden" });
    expect(one.askNow("approve", approveBody(person("ida")))).toMatchObject({ code: "self_approval_forbidden" });
  });

  test("every reader of mail while a person's address is unknown; a machine's needs none", () => {
    const person = forbidding({ initiator: { ...ida, email: null } });
    expect(link(person, "zoe@example.com")).toEqual({ outcome: "forbidden", code: "approver_not_allowed" });
    const machine = forbidding({ initiator: { ...ida, kind: "service_account", email: null } });
    expect(link(machine, "zoe@example.com")).toMatchObject({ outcome: "issued" });
  });
});

test("what came of an approved call is kept, once", () => {
  const one = asked();
  one.askNow("approve", approveBody(ada));
  one.tell("executed", { executed: false });
  one.tell("executed", { executed: true });
  expect(shown(one)).toMatchObject({ executed: false });
});

test("silence rejects or fails, as the question says; a withdrawn one has no result", () => {
  const rejects = asked();
  rejects.fireNext();
  expect(told(rejects)).toMatchObject({ status: "timed_out", via: "timeout", result: { decision: "rejected" } });
  const fails = asked({}, { reject_on_timeout: false });
  fails.fireNext();
  expect(told(fails)).toMatchObject({ status: "timed_out", result: { decision: "timed_out" } });
  const given_up = asked();
  given_up.tell("withdraw", { reason: "execution_over" });
  expect(given_up.told).toEqual([]);
  expect(stateOf(given_up)).toMatchObject({ status: "withdrawn", call: { given: null } });
});
