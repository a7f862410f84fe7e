/** The life of an approval, message by message. */
import { describe, expect, test } from "bun:test";
import type { Simulation } from "../simulate.ts";
import { approveBody, byLink, linkBody, minute, openBody, rejectBody, runId, signalBody, unopened } from "./fixture.ts";
import { ada, bob, id, notes, opened, resultOf, stateOf, tellsOf, told, types } from "./opened.ts";

describe("opened", () => {
  test("it waits, with one timer for its deadline", () => {
    const one = opened();
    expect(stateOf(one).status).toBe("pending");
    expect([...one.timers].map(([name, { at }]) => [name, at - one.now])).toEqual([["expire", 120 * minute]]);
    expect(types(one)).toEqual(["requested"]);
    expect(one.told).toEqual([]);
  });

  test("its deadline counts from when its owner asked, however late it hears", () => {
    const one = unopened();
    const { now } = one;
    one.now += 5 * minute;
    one.tell("open", openBody());
    expect(stateOf(one)).toMatchObject({ created_at: now, expires_at: now + 120 * minute });
    expect(one.timers.get("expire")?.at).toBe(now + 120 * minute);
  });

  test("again, it is the same", () => {
    const one = opened();
    const before = one.state;
    one.now += minute;
    one.tell("open", openBody({ prompt: "another" }));
    expect(one.state).toEqual(before);
    expect(types(one)).toEqual(["requested"]);
  });

  test("with a reminder and an escalation it has their timers, unless they come too late", () => {
    const escalate = { after_ms: 20 * minute, approvers: [], notify: [] };
    const names = (one: Simulation) => [...one.timers.keys()].sort();
    expect(names(opened({ remind_after_ms: minute, escalate }))).toEqual(["escalate", "expire", "remind"]);
    const late = { remind_after_ms: 120 * minute, escalate: { ...escalate, after_ms: 200 * minute } };
    expect(names(opened(late))).toEqual(["expire"]);
  });
});

describe("decided", () => {
  test("an approval tells the owner in the same commit, records who, and leaves no timer", () => {
    const one = opened({ remind_after_ms: minute, escalate: { after_ms: minute, approvers: [], notify: [] } });
    const reply = one.askNow("approve", approveBody(ada, { feedback: "fine", approved_by: "another person" }));
    const at = new Date(one.now).toISOString();
    expect(reply).toEqual({ outcome: "decided", status: "approved", decided_at: at });
    expect(tellsOf(one)).toEqual([
      {
        effect: "tell",
        kind: "workflow_run",
        key: runId,
        coCommit: true,
        message: {
          type: "approval_decided",
          body: {
            approval_id: id,
            status: "approved",
            via: "approve",
            decided_at: at,
            result: {
              status: "success",
              decision: "approved",
              response: "approved",
              feedback: "fine",
              payload: null,
              approved_by: "another person",
              rejected_by: null,
              decided_by: { sub: "ada", kind: "operator", email: "ada@example.com" },
              decided_at: at,
              timeout: false,
              approval_id: id,
            },
          },
        },
      },
    ]);
    expect(one.timers.size).toBe(0);
    expect(one.log().at(-1)).toEqual({
      type: "approved",
      actor: { sub: "ada", kind: "operator", email: "ada@example.com", role: "operator" },
      via: "approve",
      http_request_id: "req-1",
      ip: "192.0.2.7",
      user_agent: "test",
      note: null,
    });
  });

  test("a rejection's reason is its feedback", () => {
    const one = opened();
    expect(one.askNow("reject", rejectBody(ada))).toMatchObject({ outcome: "decided", status: "rejected" });
    expect(resultOf(one)).toMatchObject({
      status: "failed",
      decision: "rejected",
      response: "rejected",
      feedback: "too dear",
      error: "approval_rejected",
      timeout: false,
    });
  });

  test("a signal that is neither yes nor no is a response; the owner gets its payload", () => {
    const one = opened();
    one.askNow("signal", signalBody(ada, "tomorrow", { signal_name: "note", payload: { when: "noon" } }));
    expect(told(one)).toMatchObject({ status: "responded", via: "signal" });
    expect(resultOf(one)).toMatchObject({ status: "success", decision: "responded", payload: { when: "noon" } });
  });

  test.each(["approve", "reject", "signal"])("a second decision by %s is refused with the first one", (type) => {
    const one = opened();
    one.askNow("approve", approveBody(ada));
    const at = new Date(one.now).toISOString();
    one.now += minute;
    const bodies = { approve: approveBody(bob), reject: rejectBody(bob), signal: signalBody(bob, "no") };
    expect(one.askNow(type, bodies[type as keyof typeof bodies])).toEqual({
      outcome: "already_decided",
      status: "approved",
      decided_at: at,
    });
    expect(one.told).toHaveLength(1);
  });

  test("the same piece of work again gets its first answer", () => {
    const one = opened();
    const body = approveBody(ada, { work_id: "w" });
    const first = one.askNow("approve", body);
    one.now += minute;
    expect(one.askNow("approve", body)).toEqual(first);
    expect(one.askNow("approve", approveBody(ada, { work_id: "v" }))).toMatchObject({ outcome: "already_decided" });
    expect(one.told).toHaveLength(1);
  });

  test("an approval that was never opened is unknown", () => {
    const one = unopened();
    for (const [type, body] of Object.entries({
      approve: approveBody(ada),
      reject: rejectBody(ada),
      signal: signalBody(ada, "yes"),
      issue_link: linkBody(ada, "bob@example.com", "h"),
      decide_by_link: byLink("h"),
    })) {
      expect(one.askNow(type, body)).toEqual({ outcome: "unknown" });
    }
    for (const type of ["expire", "remind", "escalate", "erase"]) one.tell(type, {});
    one.tell("withdraw", { reason: "cancelled" });
    expect(one.state).toBeNull();
  });
});

describe("its deadline", () => {
  test("the timer decides as the manifest says", () => {
    const one = opened();
    expect(one.fireNext()).toBe(true);
    expect(told(one)).toMatchObject({ status: "timed_out", via: "timeout" });
    expect(resultOf(one)).toMatchObject({ timeout: true, decision: "timed_out", decided_by: null });
    expect(types(one)).toEqual(["requested", "timed_out"]);
  });

  test("a decision after the deadline is late, even before the timer, and times it out", () => {
    const one = opened({ default_response: "yes" });
    one.now += 120 * minute;
    expect(one.askNow("reject", rejectBody(ada))).toEqual({
      outcome: "already_decided",
      status: "timed_out",
      decided_at: new Date(one.now).toISOString(),
    });
    expect(resultOf(one)).toMatchObject({ status: "success", decision: "approved", response: "yes", timeout: true });
    one.tell("expire", {});
    expect(one.told).toHaveLength(1);
    expect(one.timers.size).toBe(0);
  });

  test("one millisecond before it a decision is one", () => {
    const one = opened();
    one.now += 120 * minute - 1;
    expect(one.askNow("approve", approveBody(ada))).toMatchObject({ outcome: "decided" });
  });

  test("a timer that is early waits for the rest", () => {
    const one = opened();
    one.timers.delete("expire");
    one.now += 120 * minute - 3;
    one.tell("expire", {});
    expect(stateOf(one).status).toBe("pending");
    expect(one.fireNext()).toBe(true);
    expect(stateOf(one).status).toBe("timed_out");
  });
});

describe("withdrawn", () => {
  test("it has no result: no run waits", () => {
    const one = opened();
    one.tell("withdraw", { reason: "cancelled" });
    one.tell("withdraw", { reason: "again" });
    expect(stateOf(one)).toMatchObject({ status: "withdrawn", decision: { via: "cancel", decision: null, by: null } });
    expect(one.told).toEqual([]);
    expect(one.timers.size).toBe(0);
    expect(notes(one, "withdrawn")).toEqual(["cancelled"]);
    expect(one.askNow("approve", approveBody(ada))).toMatchObject({ outcome: "already_decided", status: "withdrawn" });
  });

  test("it cannot be once it is decided", () => {
    const one = opened();
    one.askNow("approve", approveBody(ada));
    one.tell("withdraw", { reason: "cancelled" });
    expect(stateOf(one).status).toBe("approved");
  });
});

describe("erased", () => {
  test("it is gone once decided, and not before", () => {
    const one = opened();
    one.tell("erase", {});
    expect(stateOf(one).status).toBe("pending");
    one.askNow("approve", approveBody(ada));
    one.tell("erase", {});
    expect(one.state).toBeNull();
    one.tell("notified", { id: `notify-${id}-resolved-0`, ok: true, value: null });
    expect(one.state).toBeNull();
  });
});
