/** Who acts, and from where, as a request tells it. */
import { madeStorable } from "../../../actors/manifest/storable.ts";
import type { AuditedBy, AuditedCall } from "./port.ts";

/** Of a request's own words, kept. */
const maxText = 512;

/** What the log says of the caller. The address is that of the connection, as it is for failed authentications. */
export function auditedBy({ identity, request, requestId, server }: AuditedCall): AuditedBy {
  const { kind, userId, role, membership, email, clientId } = identity;
  return {
    actor: { kind, user_id: kept(userId), role: role ?? membership, key_id: null, name: kept(email ?? clientId) },
    ip: server?.requestIP(request)?.address ?? null,
    userAgent: kept(request.headers.get("user-agent")),
    requestId,
  };
}

const kept = (text: string | null): string | null => (text === null ? null : madeStorable(text.slice(0, maxText)));
