/** Members as the wire has them. */

import type { MemberRow } from "./member-records.ts";
import type { MemberBody } from "./schema.ts";

export function memberBody(row: MemberRow): MemberBody {
  const id = row.user_id ?? row.invitation_id ?? "";
  return {
    id,
    user_id: id,
    membership_id: row.membership_id,
    realm: row.realm,
    email: row.email ?? "",
    name: row.name,
    role: row.role,
    status: row.status,
    invited_at: row.invited_at?.toISOString() ?? null,
    joined_at: row.joined_at?.toISOString() ?? null,
  };
}
