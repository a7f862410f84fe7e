/** Who may decide about an approval, and when two deciders are one and the same person. */
import { type Claims, folded, isNamed } from "../policy/security/people.ts";
import type { Decider, ForbiddenCode, Open } from "./messages.ts";
import { type ApprovalState, approversOf, type DecidedBy, type Link } from "./state.ts";

/** For telling whether two are the same person, where taking two for one only refuses more. */
const alike = (address: string): string => address.normalize("NFKC").toLowerCase();

/** Why the caller may not decide; null: they may. No role is exempt. */
export function decisionRefusal(state: ApprovalState, by: Decider, managesFleet: boolean): ForbiddenCode | null {
  const { request } = state;
  if (request.kind === "fleet_run" && !managesFleet) return "insufficient_scope";
  const mayBeAgent = request.allow_agents && request.kind !== "tool_call";
  if (by.kind === "agent" && !mayBeAgent) return "approver_not_allowed";
  if (request.forbid_initiator && isInitiator(state, by)) return "self_approval_forbidden";
  if (request.required_role !== null && !by.roles.includes(request.required_role)) return "approver_not_allowed";
  return isApprover(state, by) ? null : "approver_not_allowed";
}

/** The same for a recipient of mail: reading it proves the address, no subject and no role. */
export function recipientRefusal(state: ApprovalState, recipient: string): ForbiddenCode | null {
  const { forbid_initiator, required_role } = state.request;
  if (forbid_initiator && isInitiator(state, { sub: null, email: recipient })) return "self_approval_forbidden";
  if (forbid_initiator && state.request.kind === "tool_call" && isUnaddressed(state)) return "approver_not_allowed";
  const reader = { sub: null, email: recipient, roles: [] };
  // What an agent does is decided by an address that was named for it, or by a caller who is signed in.
  if (state.request.kind === "tool_call" && approversOf(state).length === 0) return "approver_not_allowed";
  return required_role === null && isApprover(state, reader) ? null : "approver_not_allowed";
}

/** Those whose work is asked about. */
const behind = ({ request: { initiator, opener } }: ApprovalState): readonly Open["initiator"][] =>
  opener === undefined ? [initiator] : [initiator, opener];

/** Kinds that have no mailbox: a link for one of their own addresses cannot be. */
const impersonal: readonly string[] = ["service_account", "unknown"];

/** A person whose address is not known may be the reader of any mail, so that none can be told to be another's. */
const isUnaddressed = (state: ApprovalState): boolean =>
  behind(state).some(({ kind, sub, email }) => email === null && !sub.includes("@") && !impersonal.includes(kind));

function isInitiator(state: ApprovalState, by: Pick<DecidedBy, "sub" | "realm" | "email">): boolean {
  return behind(state).some((one) => isSame(one, by));
}

function isSame(
  initiator: Open["initiator"],
  { sub, realm, email }: Pick<DecidedBy, "sub" | "realm" | "email">,
): boolean {
  // Where one of the two realms was not stored, two of one subject are taken for one person: that only refuses more.
  if (sub !== null && sub === initiator.sub && (realm ?? initiator.realm) === (initiator.realm ?? realm)) return true;
  if (email === null) return false;
  return [initiator.email, initiator.sub].some((known) => known !== null && alike(known) === alike(email));
}

function isApprover(state: ApprovalState, claims: Claims): boolean {
  const approvers = approversOf(state);
  return approvers.length === 0 || isNamed(approvers, claims);
}

/** The keys of a person: two deciders with a key in common are the same person. */
export function peopleOf({ sub, realm, email }: Pick<DecidedBy, "sub" | "realm" | "email">): string[] {
  const subject = realm === undefined ? `sub:${sub}` : `user:${realm}:${sub}`;
  return [...(sub === null ? [] : [subject]), ...(email === null ? [] : [`email:${alike(email)}`])];
}

/** Whether one of the stored keys is a person's: those of earlier versions name a subject without its realm. */
function areKeysOf(stored: readonly string[], people: readonly string[]): boolean {
  const former = people.map((key) => key.replace(/^user:[^:]*:/, "sub:"));
  return stored.some((key) => people.includes(key) || former.includes(key));
}

/** A link that an issuer was handed proves no more than that issuer's own consent. */
export function peopleBehind({ recipient, issuer }: Link): string[] {
  return [...new Set([...peopleOf({ sub: null, email: recipient }), ...issuer])];
}

/** A caller who was handed a link for another person and shows who they are may not decide in that person's name. */
export function isMisused({ recipient, issuer }: Link, caller: Decider): boolean {
  const isOwn = caller.email !== null && folded(caller.email) === folded(recipient);
  return !isOwn && areKeysOf(issuer, peopleOf(caller));
}

/** Whether one of these people has consented already. */
export function hasConsented({ consents }: ApprovalState, people: readonly string[]): boolean {
  return consents.some((consent) => areKeysOf(consent.people, people));
}
