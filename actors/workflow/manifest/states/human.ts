/** The kind of state that waits for people. */
import type { Notify } from "../../../approval/messages.ts";
import { mailAddress as address, approvers } from "../../../manifest/approvers.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { second, secret, webUrl } from "../../../manifest/members.ts";
import { object, variants } from "../../../manifest/object.ts";
import { choice, flag, integer, list, text } from "../../../manifest/shape.ts";
import type { HumanState } from "../../definition/states.ts";
import { filledTemplate, longDuration, type Of, type Reading, timeout, timeoutSeconds } from "../members.ts";

const defaultTimeoutMs = 3600 * second;

const notify = list(
  variants(
    "type",
    {
      type: choice("webhook", "email")
        .check((type, { offer }: Reading) =>
          type === "email" && !offer.email ? ["no mail is sent from here", "unsupported_destination"] : null,
        )
        .required(),
    },
    {
      webhook: object({ url: webUrl.required().or(""), secret })
        .strict("a webhook to notify")
        .build((read): Notify => ({ type: "webhook", ...read })),
      email: object({
        to: list(
          text({ max: 320, pattern: address, form: "an e-mail address" }),
          50,
          "must name a recipient",
        ).required(),
      })
        .strict("an e-mail to send")
        .build(({ to }): Notify => ({ type: "email", to: [...new Set(to)] })),
    },
  ).named("Notification"),
  16,
)
  .or([])
  .as((list) => [...list]);

const afterTimeout = "1 s to less than the timeout";
const escalate = object({ after: longDuration(afterTimeout).required().or(second), approvers, notify })
  .strict("an escalation")
  .build(({ after: after_ms, ...read }) => ({ after_ms, ...read }));

export const humanState = object({
  timeout,
  timeout_seconds: timeoutSeconds,
  approvers,
  prompt: filledTemplate.or(""),
  default_response: text({ max: 16_384 }),
  reject_on_timeout: flag(),
  required_role: text({ min: 1, max: 256, pattern: /^[^\s\p{Cc}]+$/u, form: "a role" }),
  quorum: integer(1, 20).or(1),
  forbid_initiator: flag(),
  allow_agents: flag(),
  notify,
  remind_after: timeout,
  escalate,
})
  .strict("a Human state")
  .build(({ timeout, timeout_seconds, remind_after, ...read }, fields): Of<HumanState> => {
    const seconds = timeout_seconds === null ? null : timeout_seconds * second;
    // Either of two spellings; both may be written only when they agree.
    if (timeout !== null && seconds !== null && timeout !== seconds) {
      fields.issue("timeout_seconds", "is another name of timeout, with another value");
    }
    const state = {
      kind: "Human",
      ...read,
      timeout_ms: timeout ?? seconds ?? defaultTimeoutMs,
      remind_after_ms: remind_after,
    } as const;
    checkTimes(fields, state, state.timeout_ms);
    checkQuorum(fields, state);
    return state;
  });

function checkTimes(fields: Fields, { remind_after_ms, escalate }: Of<HumanState>, timeoutMs: number): void {
  if (remind_after_ms !== null && remind_after_ms >= timeoutMs) {
    fields.warn("remind_after", "no_effect", "The request ends before the reminder is due");
  }
  // A timeout that is wrong itself bounds nothing.
  const isKnown = !["timeout", "timeout_seconds"].some((key) => fields.findings.hasIssueAt(fields.at(key)));
  if (escalate !== null && isKnown && escalate.after_ms >= timeoutMs) {
    fields.issue("escalate.after", `must be from ${afterTimeout}`);
  }
}

/** Where all who may decide are named one by one, there must be enough of them. */
function checkQuorum(fields: Fields, { approvers, escalate, quorum }: Of<HumanState>): void {
  const named = new Set([...approvers, ...(escalate?.approvers ?? [])]);
  const isOpen = approvers.length === 0 || [...named].some((one) => one.startsWith("role:"));
  if (!isOpen && named.size < quorum) fields.issue("quorum", "asks for more people than may decide");
}
