/** The audit log (docs/reference/identity.md), as features that change something use it. */

import type { Json } from "../../../actors/kernel/json.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import type { Call } from "../../http/route.ts";
import type { Transaction } from "../../store/postgres.ts";

/** One change, told to the log in the transaction that makes it. `details` never hold secrets, and no names from outside. */
export interface AuditedChange {
  readonly tenant: string;
  /** Such as `stimulus_route.created`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly details: { readonly [key: string]: Json };
}

/** Who acts, from where: taken from the request that does it. */
export interface AuditedBy {
  readonly actor: {
    readonly kind: string;
    readonly user_id: string | null;
    /** Of the platform's own people and machines, or within the tenant. */
    readonly role: string | null;
    /** Of the API key the caller came with. */
    readonly key_id: string | null;
    /** As people know the caller: an e-mail address, or the name of an OAuth client. */
    readonly name: string | null;
  };
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
}

export interface Audit {
  /** Writes the entry within `tx`: where it cannot be written the change fails as well. */
  append(tx: Transaction, by: AuditedBy, change: AuditedChange): Promise<void>;
}

/** Who acts in a call. */
export type AuditedCall = Pick<Call, "identity" | "request" | "requestId" | "address">;

/** Characters kept of a text that the request brings. */
const maxText = 512;

/** What the log says of the caller. */
export function auditedBy({ identity, request, requestId, address }: AuditedCall): AuditedBy {
  const { kind, userId, role, membership, email, clientId } = identity;
  return {
    actor: { kind, user_id: kept(userId), role: role ?? membership, key_id: null, name: kept(email ?? clientId) },
    ip: address,
    userAgent: kept(request.headers.get("user-agent")),
    requestId,
  };
}

const kept = (text: string | null): string | null => (text === null ? null : madeStorable(text.slice(0, maxText)));
