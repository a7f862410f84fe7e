/** Who does what the log tells of. */
import type { Identity } from "../../../actors/identity/identity.ts";
import type { AuditedBy } from "../../../actors/kernel/audit.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import type { Call } from "../../http/route.ts";

/** Who acts in a call. */
export type AuditedCall = Pick<Call, "identity" | "request" | "requestId" | "address">;

/** Characters kept of a text that the request brings. */
const maxText = 512;

/** What the log says of the caller. */
export function auditedBy(call: AuditedCall): AuditedBy {
  return { actor: actorOf(call.identity), ...auditedRequest(call) };
}

/** What the audit log says of a request, its actor aside. */
export function auditedRequest({
  request,
  requestId,
  address,
}: Pick<AuditedCall, "request" | "requestId" | "address">): Omit<AuditedBy, "actor"> {
  return { ip: address, user_agent: kept(request.headers.get("user-agent")), request_id: requestId };
}

/** What the log says of an agent that acts by a tool call, with the permissions of the identity. */
export function auditedAgent({
  identity,
  requestId,
}: {
  readonly identity: Identity;
  readonly requestId: string | null;
}): AuditedBy {
  return { actor: { ...actorOf(identity), kind: "agent" }, ip: null, user_agent: null, request_id: requestId };
}

/** What the service does by itself. @param name of the part that acts */
export function auditedSystem(name: string): AuditedBy {
  const actor = { kind: "system", realm: null, user_id: null, role: null, key_id: null, name };
  return { actor, ip: null, user_agent: null, request_id: null };
}

export function actorOf({
  kind,
  realm,
  userId,
  role,
  membership,
  keyId,
  email,
  clientId,
}: Identity): AuditedBy["actor"] {
  return {
    kind,
    realm,
    user_id: kept(userId),
    role: role ?? membership,
    key_id: keyId,
    name: kept(email ?? clientId),
  };
}

const kept = (text: string | null): string | null => (text === null ? null : madeStorable(text.slice(0, maxText)));
