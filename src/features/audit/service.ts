/** Writing the audit log. Nothing here or elsewhere changes an entry; they go by age alone. */
import { madeStorable } from "../../../actors/manifest/storable.ts";
import type { Audit } from "./port.ts";

export interface AuditOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function createAudit({ now, newId }: AuditOptions): Audit {
  return {
    async append(tx, { actor, ip, userAgent, requestId }, { tenant, action, target, details }) {
      await tx`
        insert into audit_entries
          (id, at, tenant, actor, action, target_type, target_id, outcome, ip, user_agent, request_id, details)
        values (${newId()}, ${new Date(now())}, ${tenant}, ${jsonOf(actor)}::text::jsonb, ${action}, ${target.type},
          ${madeStorable(target.id)}, 'allowed', ${ip}, ${userAgent}, ${requestId}, ${jsonOf(details)}::text::jsonb)`;
    },
  };
}

/** Texts within may be a caller's: what `jsonb` would refuse in them must not fail the change. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? madeStorable(part) : part));
