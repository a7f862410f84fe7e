/** Whatever people, clocks and timers do, and in whichever order: one decision, told once. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Decider, Open } from "../../../actors/approval/messages.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import {
  approveBody,
  byLink,
  linkBody,
  minute,
  openBody,
  person,
  rejectBody,
  signalBody,
  unopened,
} from "./fixture.ts";

const newUser: fc.Arbitrary<Decider> = fc.constantFrom(
  person("ada"),
  person("bob"),
  person("ida"),
  person("bot", { kind: "agent", email: null, roles: [] }),
  person("ada-again", { email: "ADA@example.com", roles: ["member"] }),
);
const setting: fc.Arbitrary<Partial<Open>> = fc.record({
  quorum: fc.integer({ min: 1, max: 3 }),
  approvers: fc.constantFrom([], ["user:ada"], ["role:operator"], ["email:ada@example.com", "user:bob"]),
  forbid_initiator: fc.boolean(),
  allow_agents: fc.boolean(),
  default_response: fc.constantFrom(null, "yes", "no", "hm"),
  reject_on_timeout: fc.boolean(),
  remind_after_ms: fc.constantFrom(null, 30 * minute),
  escalate: fc.constantFrom(null, { after_ms: 60 * minute, approvers: ["user:ida"], notify: [] }),
});

type Step =
  | { readonly step: "ask"; readonly type: string; readonly body: Json }
  | { readonly step: "tell"; readonly type: string; readonly body: Json }
  | { readonly step: "wait"; readonly minutes: number }
  | { readonly step: "fire" };
const hash = fc.constantFrom("h1", "h2");
const workId = fc.constantFrom(null, "w1", "w2");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(newUser, workId).map(([by, work_id]) => ask("approve", approveBody(by, { work_id }))),
  fc.tuple(newUser, workId).map(([by, work_id]) => ask("reject", rejectBody(by, { work_id }))),
  fc.tuple(newUser, fc.constantFrom("yes", "no", "perhaps")).map(([by, text]) => ask("signal", signalBody(by, text))),
  fc
    .tuple(fc.option(newUser), fc.constantFrom("ada@example.com", "zoe@example.com"), hash)
    .map(([by, recipient, one]) => ask("issue_link", linkBody(by, recipient, one))),
  fc
    .tuple(hash, fc.constantFrom("approve" as const, "reject" as const))
    .map(([one, decision]) => ask("decide_by_link", byLink(one, decision))),
  fc.constantFrom("expire", "remind", "escalate").map((type): Step => ({ step: "tell", type, body: {} })),
  fc.constant<Step>({ step: "tell", type: "withdraw", body: { reason: "cancelled" } }),
  fc.integer({ min: 0, max: 70 }).map((minutes): Step => ({ step: "wait", minutes })),
  fc.constant<Step>({ step: "fire" }),
);

function ask(type: string, body: Json): Step {
  return { step: "ask", type, body };
}

test("one decision, told exactly once, never one from after the deadline", () => {
  fc.assert(
    fc.property(setting, fc.array(step, { maxLength: 25 }), (changes, steps) => {
      const one = unopened();
      one.tell("open", openBody(changes));
      const { expires_at } = one.state as unknown as ApprovalState;
      const decided: Json[] = [];
      let first: Json = null;
      for (const each of steps) {
        if (each.step === "wait") one.now += each.minutes * minute;
        else if (each.step === "fire") one.fireNext();
        else if (each.step === "tell") one.tell(each.type, each.body);
        else {
          const reply = one.askNow(each.type, each.body) as { readonly outcome: string };
          if (reply.outcome === "decided") {
            decided.push(reply);
            // A repeat of the deciding work is answered alike, however late.
            expect(reply).toEqual((decided[0] ?? null) as typeof reply);
          }
        }
        const { decision, status } = one.state as unknown as ApprovalState;
        expect(decision === null).toBe(status === "pending");
        first ??= decision as Json;
        expect(decision as Json).toEqual(first);
      }
      const { decision, status, consents } = one.state as unknown as ApprovalState;
      const told = one.told.length;
      expect(told).toBe(status === "pending" || status === "withdrawn" ? 0 : 1);
      const endings = one.log().filter((entry) => (entry as { note: string | null; type: string }).type === status);
      if (status !== "pending" && consents.length <= 1) expect(endings.length).toBeGreaterThanOrEqual(1);
      if (decision?.by !== null && decision !== null) expect(decision.at).toBeLessThan(expires_at);
      if (status === "approved") expect(consents).toHaveLength(changes.quorum ?? 1);
      const people = consents.flatMap((consent) => consent.people);
      expect(new Set(people).size).toBe(people.length);
      if (status !== "pending") expect([...one.timers.keys()].filter((name) => name !== "expire_again")).toEqual([]);
    }),
    { numRuns: 600 },
  );
});
