/** The kind of state that waits for people (workflow contract, section 12). */

import type { Notify } from "../../../approval/messages.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { readWebUrl } from "../../../manifest/web-request.ts";
import type { HumanState } from "../../definition.ts";
import { maxTimeoutSeconds, readTime, readTimeout, requireElements, second } from "../quantities.ts";
import type { Of, Reading } from "../reading.ts";
import { refuseReference } from "../secrets.ts";

const defaultTimeoutMs = 3600 * second;
const maxApprovers = 100;
const maxNotified = 16;
const maxRecipients = 50;
const maxQuorum = 20;

/** Good enough to tell an address from something else; whether mail arrives is not to be known here. */
const address = /^[^\s@<>,;:"\p{Cc}]{1,64}@[^\s@<>,;:"\p{Cc}]{1,255}$/u;
const email = { max: 320, pattern: address, form: "an e-mail address" };
const approver = {
  max: 330,
  pattern: new RegExp(`^(?:email:${address.source.slice(1, -1)}|(?:user|role):[^\\s\\p{Cc}]{1,256})$`, "u"),
  form: "user:<sub>, email:<address> or role:<role>",
};
const role = { min: 1, max: 256, pattern: /^[^\s\p{Cc}]+$/u, form: "a role" };

export function readHuman(fields: Fields, reading: Reading): Of<HumanState> {
  const timeout_ms = readDeadline(fields);
  const approvers = readApprovers(fields);
  const state: Of<HumanState> = {
    kind: "Human",
    timeout_ms,
    prompt: reading.templates.required(fields, "prompt") ?? "",
    default_response: fields.text("default_response", { max: 16_384 }),
    reject_on_timeout: fields.flag("reject_on_timeout"),
    approvers,
    required_role: fields.text("required_role", role),
    quorum: fields.integer("quorum", { min: 1, max: maxQuorum }) ?? 1,
    forbid_initiator: fields.flag("forbid_initiator"),
    allow_agents: fields.flag("allow_agents"),
    notify: readNotify(fields, reading),
    remind_after_ms: readTimeout(fields, "remind_after"),
    escalate: readEscalation(fields, reading, timeout_ms),
  };
  if (state.remind_after_ms !== null && state.remind_after_ms >= timeout_ms) {
    fields.warn("remind_after", "no_effect", "The request is over before anybody is reminded");
  }
  checkQuorum(fields, state);
  return state;
}

/** In either of two spellings; both may be written only when they agree. */
function readDeadline(fields: Fields): number {
  const timeout = readTimeout(fields, "timeout");
  const seconds = fields.integer("timeout_seconds", { min: 1, max: maxTimeoutSeconds });
  if (timeout !== null && seconds !== null && timeout !== seconds * second) {
    fields.issue("timeout_seconds", "is another name of timeout, with another value");
  }
  return timeout ?? (seconds === null ? defaultTimeoutMs : seconds * second);
}

const readApprovers = (fields: Fields): string[] => [...new Set(fields.texts("approvers", maxApprovers, approver))];

/** Where all who may decide are named one by one, there must be enough of them. */
function checkQuorum(fields: Fields, { approvers, escalate, quorum }: Of<HumanState>): void {
  const named = new Set([...approvers, ...(escalate?.approvers ?? [])]);
  const isOpen = approvers.length === 0 || [...named].some((one) => one.startsWith("role:"));
  if (!isOpen && named.size < quorum) fields.issue("quorum", "asks for more people than may decide");
}

function readEscalation(state: Fields, reading: Reading, timeoutMs: number): HumanState["escalate"] {
  const fields = state.has("escalate") ? state.requiredSection("escalate") : null;
  if (fields === null) return null;
  if (!fields.has("after")) fields.issue("after", "is required");
  // A timeout that is wrong itself bounds nothing.
  const isKnown = !["timeout", "timeout_seconds"].some((key) => state.findings.hasIssueAt(state.at(key)));
  const bounds = { min: second, max: isKnown ? timeoutMs - 1 : maxTimeoutSeconds * second };
  const after_ms = fields.measure("after", readTime, "duration", { ...bounds, said: "1 s to less than the timeout" });
  const approvers = readApprovers(fields);
  const notify = readNotify(fields, reading);
  fields.closeStrictly("an escalation");
  return { after_ms: after_ms ?? second, approvers, notify };
}

function readNotify(state: Fields, reading: Reading): Notify[] {
  return state.sections("notify", maxNotified).flatMap((fields) => readDestination(fields, reading) ?? []);
}

function readDestination(fields: Fields, { offer }: Reading): Notify | null {
  if (!fields.has("type")) fields.issue("type", "is required");
  const type = fields.choice("type", ["webhook", "email"]);
  if (type === null) return null;
  if (type === "email" && !offer.email) {
    return fields.issue("type", "no mail is sent from here", "unsupported_destination");
  }
  const destination = type === "webhook" ? readWebhook(fields) : readEmail(fields);
  fields.closeStrictly(type === "webhook" ? "a webhook to notify" : "an e-mail to send");
  return destination;
}

function readWebhook(fields: Fields): Notify {
  if (!fields.has("url")) fields.issue("url", "is required");
  const url = readWebUrl(fields, "url") ?? "";
  const secret = fields.text("secret", { min: 1, max: 1024 });
  refuseReference(fields, "secret", secret);
  return { type: "webhook", url, secret };
}

function readEmail(fields: Fields): Notify {
  const to = [...new Set(fields.texts("to", maxRecipients, email))];
  requireElements(fields, "to", "must name a recipient");
  return { type: "email", to };
}
