/** Who may decide an approval: people, quorums, links, and who is notified. */
import { describe, expect, test } from "bun:test";
import type { Decider, Notify, Open } from "../../../actors/approval/messages.ts";
import { notify } from "../../../actors/approval/messages.ts";
import type { Simulation } from "../simulate.ts";
import { approveBody, byLink, linkBody, minute, person, rejectBody, signalBody } from "./fixture.ts";
import { ada, bob, id, notes, opened, resultOf, stateOf, told, types } from "./opened.ts";

const ida = person("ida");

describe("who may decide", () => {
  const agent = person("bot", { kind: "agent", email: null, roles: [] });
  const self = "self_approval_forbidden";
  const other = "approver_not_allowed";
  test.each<[string, Partial<Open>, Decider, string | null]>([
    ["anybody, when nobody is named", {}, ada, null],
    ["a subject", { approvers: ["user:ada"] }, ada, null],
    ["another subject", { approvers: ["user:ada"] }, bob, other],
    ["an address in any case", { approvers: ["email:ADA@Example.com"] }, ada, null],
    [
      "an address that only looks alike",
      { approvers: ["email:kate@x.dev"] },
      person("k", { email: "\u212aate@x.dev" }),
      other,
    ],
    ["no address", { approvers: ["email:ada@example.com"] }, person("x", { email: null }), other],
    ["a role", { approvers: ["role:owner"] }, person("x", { roles: ["member", "owner"] }), null],
    ["another role", { approvers: ["role:owner"] }, person("x", { roles: ["admin"] }), other],
    ["one of several", { approvers: ["user:x", "role:operator"] }, ada, null],
    ["a name without its kind", { approvers: ["ada"] }, ada, other],
    ["the initiator, elsewhere", { forbid_initiator: false }, ida, null],
    ["the initiator", { forbid_initiator: true }, ida, self],
    ["the initiator among the approvers", { forbid_initiator: true, approvers: ["user:ida"] }, ida, self],
    ["the initiator by address", { forbid_initiator: true }, person("other", { email: "IDA@example.com" }), self],
    ["the initiator, an admin", { forbid_initiator: true }, person("ida", { roles: ["admin"] }), self],
    ["an agent", {}, agent, other],
    ["an agent that is let", { allow_agents: true }, agent, null],
    ["an agent that is let, but not named", { allow_agents: true, approvers: ["user:ada"] }, agent, other],
    ["the required role", { required_role: "operator" }, ada, null],
    ["without the required role", { required_role: "admin", approvers: ["user:ada"] }, ada, other],
    ["a fleet run without its scope", { kind: "fleet_run" }, ada, "insufficient_scope"],
  ])("%s", (_, changes, by, code) => {
    for (const [type, body] of Object.entries({
      approve: approveBody(by),
      reject: rejectBody(by),
      signal: signalBody(by, "yes"),
    })) {
      const one = opened(changes);
      const reply = one.askNow(type, body);
      if (code === null) expect(reply).toMatchObject({ outcome: "decided" });
      else {
        expect(reply).toEqual({ outcome: "forbidden", code });
        expect(stateOf(one).status).toBe("pending");
        expect(one.log().at(-1)).toMatchObject({ type: "refused", actor: { sub: by.sub }, via: type, note: code });
        expect(one.told).toEqual([]);
      }
    }
  });

  test("fleet managers decide about fleet runs", () => {
    const one = opened({ kind: "fleet_run" });
    expect(one.askNow("approve", approveBody(ada, { manages_fleet: true }))).toMatchObject({ outcome: "decided" });
  });

  test("repeated attempts do not grow a history without bound", () => {
    const one = opened({ approvers: ["user:ada"] });
    for (let attempt = 0; attempt < 250; attempt++) one.askNow("approve", approveBody(bob));
    expect(one.log()).toHaveLength(201);
  });
});

describe("a quorum", () => {
  test("counts different people, and decides with the last", () => {
    const one = opened({ quorum: 3 });
    expect(one.askNow("approve", approveBody(ada))).toEqual({ outcome: "counted", approvals: 1, quorum: 3 });
    expect(one.askNow("approve", approveBody(ada))).toEqual({ outcome: "counted", approvals: 1, quorum: 3 });
    const alias = person("ada-2", { email: "ADA@example.com" });
    expect(one.askNow("approve", approveBody(alias))).toMatchObject({ approvals: 1 });
    expect(one.askNow("signal", signalBody(bob, "yes"))).toMatchObject({ approvals: 2 });
    expect(one.told).toEqual([]);
    expect(one.askNow("approve", approveBody(person("cleo")))).toMatchObject({ outcome: "decided" });
    expect(notes(one, "approved")).toEqual(["1 of 3", "2 of 3", "3 of 3"]);
    expect(resultOf(one)).toMatchObject({ decided_by: { sub: "cleo" } });
  });

  test("the same subject of another realm is another person", () => {
    const guest = person("ada", { realm: "people", email: null });
    const one = opened({ quorum: 3 });
    one.askNow("approve", approveBody(person("ada", { realm: "tenant-acme" })));
    one.askNow("approve", approveBody(person("ada", { realm: "tenant-acme", email: null })));
    expect(one.askNow("approve", approveBody(guest))).toMatchObject({ outcome: "counted", approvals: 2 });
    expect(stateOf(one).consents.at(-1)?.by).toEqual({ sub: "ada", kind: "operator", email: null, realm: "people" });
    // What an earlier version counted says of no realm whose it was: another of that subject is not counted beside it.
    const former = opened({ quorum: 2 });
    former.askNow("approve", approveBody(ada));
    expect(former.askNow("approve", approveBody(guest))).toMatchObject({ outcome: "counted", approvals: 1 });
    const initiator = { kind: "tenant_user", sub: "ada", email: null };
    const asked = (realm?: string) =>
      opened({ forbid_initiator: true, initiator: { ...initiator, ...(realm && { realm }) } });
    expect(asked("tenant-acme").askNow("approve", approveBody(guest))).toMatchObject({ outcome: "decided" });
    for (const realm of ["people", undefined])
      expect(asked(realm).askNow("approve", approveBody(guest))).toMatchObject({ code: "self_approval_forbidden" });
  });

  test("one rejection is enough", () => {
    const one = opened({ quorum: 3 });
    one.askNow("approve", approveBody(ada));
    expect(one.askNow("reject", rejectBody(ada))).toMatchObject({ outcome: "decided", status: "rejected" });
  });

  test("is not passed by answering something else", () => {
    const one = opened({ quorum: 2 });
    expect(one.askNow("signal", signalBody(ada, "whatever"))).toMatchObject({ outcome: "counted", approvals: 1 });
  });

  test("the same piece of work again gets its first count", () => {
    const one = opened({ quorum: 3 });
    one.askNow("approve", approveBody(ada, { work_id: "a" }));
    one.askNow("approve", approveBody(bob, { work_id: "b" }));
    expect(one.askNow("approve", approveBody(ada, { work_id: "a" }))).toMatchObject({ approvals: 1 });
  });

  test("a link one was handed is no second voice", () => {
    const one = opened({ quorum: 2 });
    one.askNow("issue_link", linkBody(ada, "bob@example.com", "h"));
    one.askNow("approve", approveBody(ada));
    expect(one.askNow("decide_by_link", byLink("h"))).toMatchObject({ outcome: "counted", approvals: 1 });
    one.askNow("issue_link", linkBody(null, "bob@example.com", "mailed"));
    expect(one.askNow("decide_by_link", byLink("mailed"))).toMatchObject({ outcome: "decided" });
  });
});

describe("a decision link", () => {
  const handed = (changes: Partial<Open> = {}) => {
    const one = opened(changes);
    const reply = one.askNow("issue_link", linkBody(ada, "bob@example.com", "h"));
    return { one, reply };
  };

  test("decides once, for its recipient", () => {
    const { one, reply } = handed();
    expect(reply).toEqual({ outcome: "issued", expires_at: new Date(one.now + 120 * minute).toISOString() });
    expect(one.askNow("decide_by_link", byLink("h", "reject"))).toMatchObject({ status: "rejected" });
    expect(told(one)).toMatchObject({ via: "link" });
    expect(resultOf(one)).toMatchObject({
      feedback: "no",
      decided_by: { sub: null, kind: "link", email: "bob@example.com" },
    });
    expect(one.askNow("decide_by_link", byLink("h"))).toMatchObject({ outcome: "already_decided", status: "rejected" });
    expect(types(one)).toEqual(["requested", "link_issued", "rejected"]);
  });

  test.each<[string, Partial<Open>, Decider | null, string, string]>([
    [
      "its maker must be an approver",
      { approvers: ["email:bob@example.com"] },
      ada,
      "bob@example.com",
      "approver_not_allowed",
    ],
    ["its reader must be an approver", { approvers: ["user:ada"] }, ada, "bob@example.com", "approver_not_allowed"],
    ["an address proves no role", { required_role: "operator" }, ada, "bob@example.com", "approver_not_allowed"],
    ["the initiator makes none", { forbid_initiator: true }, ida, "bob@example.com", "self_approval_forbidden"],
    ["nor gets one", { forbid_initiator: true }, ada, "Ida@Example.com", "self_approval_forbidden"],
    ["nor by mail", { forbid_initiator: true }, null, "ida@example.com", "self_approval_forbidden"],
    ["a fleet run's is not mailed", { kind: "fleet_run" }, null, "bob@example.com", "insufficient_scope"],
  ])("%s", (_, changes, by, recipient, code) => {
    const one = opened(changes);
    expect(one.askNow("issue_link", linkBody(by, recipient, "h"))).toEqual({ outcome: "forbidden", code });
    expect(types(one)).toEqual(by === null ? ["requested"] : ["requested", "refused"]);
  });

  test("dies with its time", () => {
    const { one } = handed();
    one.now += 120 * minute;
    expect(one.askNow("decide_by_link", byLink("h"))).toEqual({ outcome: "link_expired" });
    expect(told(one)).toMatchObject({ status: "timed_out" });
    expect(one.askNow("issue_link", linkBody(ada, "bob@example.com", "i"))).toMatchObject({
      outcome: "already_decided",
    });
  });

  test("ends with the run that waited", () => {
    const { one } = handed();
    one.tell("withdraw", { reason: "cancelled" });
    expect(one.askNow("decide_by_link", byLink("h"))).toEqual({ outcome: "link_expired" });
  });

  test("is told of another person's decision", () => {
    const { one } = handed();
    one.askNow("approve", approveBody(ada));
    expect(one.askNow("decide_by_link", byLink("h"))).toMatchObject({ outcome: "already_decided", status: "approved" });
  });

  test("was used, though others must still agree", () => {
    const { one } = handed({ quorum: 2 });
    expect(one.askNow("decide_by_link", byLink("h"))).toMatchObject({ outcome: "counted" });
    expect(one.askNow("decide_by_link", byLink("h", "reject"))).toEqual({ outcome: "link_expired" });
  });

  test("there are not endlessly many: the oldest goes first", () => {
    const one = opened();
    for (let n = 0; n <= 100; n++) one.askNow("issue_link", linkBody(null, "bob@example.com", `h${n}`));
    expect(stateOf(one).links).toHaveLength(100);
    expect(one.askNow("decide_by_link", byLink("h0"))).toEqual({ outcome: "link_expired" });
    expect(one.askNow("decide_by_link", byLink("h100"))).toMatchObject({ outcome: "decided" });
  });
});

describe("notifications", () => {
  const hook: Notify = { type: "webhook", url: "https://hooks.example.com/T0/secret?key=1", secret: null };
  const mail: Notify = { type: "email", to: ["ada@example.com", "bob@example.com"] };
  const idsOf = (one: Simulation) => one.performed.map((work) => work.id.replace(`notify-${id}-`, ""));

  test("each destination is told of each event by work of its own", () => {
    const one = opened({ notify: [hook, mail] });
    expect(idsOf(one)).toEqual(["requested-0", "requested-1", "requested-2"]);
    expect(one.performed[1]).toMatchObject({ activity: notify.name, input: { event: "requested", place: 1 } });
    one.askNow("approve", approveBody(ada));
    expect(idsOf(one).slice(3)).toEqual(["resolved-0", "resolved-1", "resolved-2"]);
  });

  test("a reminder and an escalation are sent once, each to its recipients", () => {
    const boss: Notify = { type: "email", to: ["boss@example.com", "ADA@example.com"] };
    const one = opened({
      notify: [mail],
      remind_after_ms: 10 * minute,
      escalate: { after_ms: 20 * minute, approvers: ["email:boss@example.com"], notify: [boss] },
      approvers: ["user:ada"],
    });
    expect(one.askNow("approve", approveBody(person("boss")))).toMatchObject({ outcome: "forbidden" });
    one.fireNext();
    one.tell("remind", {});
    one.fireNext();
    one.tell("escalate", {});
    expect(types(one)).toEqual(["requested", "refused", "reminded", "escalated"]);
    expect(idsOf(one).slice(2)).toEqual(["reminder-0", "reminder-1", "escalated-0", "escalated-1", "escalated-2"]);
    expect(stateOf(one).expires_at).toBe(stateOf(one).created_at + 120 * minute);
    expect(one.askNow("approve", approveBody(person("boss")))).toMatchObject({ outcome: "decided" });
    expect(idsOf(one).slice(7)).toEqual(["resolved-0", "resolved-1", "resolved-2"]);
  });

  test("an escalation does not narrow what is open to all", () => {
    const one = opened({ escalate: { after_ms: minute, approvers: ["user:boss"], notify: [] } });
    one.fireNext();
    expect(one.askNow("approve", approveBody(ada))).toMatchObject({ outcome: "decided" });
  });

  test("what became of each is noted, without what may be a password", () => {
    const one = opened({ notify: [hook, mail] });
    one.succeed(`notify-${id}-requested-0`, null);
    one.fail(`notify-${id}-requested-1`, "notification_failed", "no such mailbox");
    expect(one.log().slice(1)).toMatchObject([
      { type: "notified", actor: null, via: "webhook", note: "requested to hooks.example.com" },
      { type: "notified", actor: null, via: "email", note: "requested to ada@example.com failed: no such mailbox" },
    ]);
    expect(stateOf(one).status).toBe("pending");
  });

  test("a reminder after the decision is not sent", () => {
    const one = opened({ remind_after_ms: minute });
    one.askNow("approve", approveBody(ada));
    one.tell("remind", {});
    one.tell("escalate", {});
    expect(types(one)).toEqual(["requested", "approved"]);
  });
});
