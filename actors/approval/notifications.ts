/** The notifications of an approval: destinations, bodies, and their outcomes. None has any effect on the approval. */
import type { Outcome } from "../kernel/activity.ts";
import { perform } from "../kernel/effect.ts";
import { type NotificationEvent, type Notify, notify } from "./messages.ts";
import { type ApprovalSummary, approvalSummary, type PendingApproval, pendingApproval } from "./record.ts";
import type { ApprovalState } from "./state.ts";

export type Destination =
  | { readonly type: "webhook"; readonly url: string; readonly secret: string | null }
  | { readonly type: "email"; readonly recipient: string };

/** Where an event goes: every address once, each reader of mail apart. The same for as long as the event is current. */
export function destinationsOf(
  { request, escalated_at }: ApprovalState,
  event: NotificationEvent,
): readonly Destination[] {
  const reachesFurther = escalated_at !== null && (event === "escalated" || event === "resolved");
  const further = reachesFurther ? (request.escalate?.notify ?? []) : [];
  const all = [...request.notify, ...further].flatMap(readersOf);
  return [...new Map(all.map((one) => [nameOf(one), one])).values()];
}

function readersOf(notify: Notify): Destination[] {
  return notify.type === "webhook" ? [notify] : notify.to.map((recipient) => ({ type: "email", recipient }));
}

const nameOf = (one: Destination): string => (one.type === "webhook" ? one.url : one.recipient.toLowerCase());

/** One piece of work per destination; its id is what the destination tells repeats by. */
export function announcements(approvalId: string, state: ApprovalState, event: NotificationEvent) {
  return destinationsOf(state, event).map((_, place) =>
    perform(notify, { event, place }, { id: `notify-${approvalId}-${event}-${place}`, then: "notified" }),
  );
}

/** The body of a notification: the approval as the event left it, however late it is sent. */
export function notificationBody(
  approvalId: string,
  tenant: string,
  state: ApprovalState,
  event: NotificationEvent,
): { readonly event: NotificationEvent; readonly approval: PendingApproval | ApprovalSummary } {
  if (event === "resolved") return { event, approval: approvalSummary(approvalId, tenant, state) };
  return { event, approval: { ...pendingApproval(approvalId, tenant, state), status: "pending" } };
}

/** The line of the history about an ended notification; null for none of ours. */
export function notificationDetails(
  state: ApprovalState,
  outcome: Outcome<typeof notify>,
): { via: string; note: string } | null {
  const [, event, place] = /-(requested|reminder|escalated|resolved)-(\d+)$/.exec(outcome.id) ?? [];
  const destination = destinationsOf(state, event as NotificationEvent)[Number(place)];
  if (destination === undefined) return null;
  const note = `${event} to ${shownName(destination)}${outcome.ok ? "" : ` failed: ${outcome.message.slice(0, 300)}`}`;
  return { via: destination.type, note };
}

/** A webhook's path and query may be its password. */
function shownName(destination: Destination): string {
  return destination.type === "email" ? destination.recipient : new URL(destination.url).host;
}

/** Each address among the approvers gets a mail with a link of its own. */
export function mailsTo(approvers: readonly string[]): Notify[] {
  const to = approvers.flatMap((one) => (one.startsWith("email:") ? [one.slice("email:".length)] : []));
  return to.length === 0 ? [] : [{ type: "email", to }];
}
