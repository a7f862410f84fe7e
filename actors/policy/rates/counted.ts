/** Whose limits work counts in, as executions and runs keep it for what they go on to use. Pure. */
import { type Static, Type } from "@sinclair/typebox";
import type { RateUser } from "./limits.ts";

/** The person who set it going; a subject is one of its realm. */
export const CountedFor = Type.Object({ realm: Type.String(), user_id: Type.String() });
export type CountedFor = Static<typeof CountedFor>;

/** As a header keeps it: nothing for work that counts in the tenant's limits alone. */
export function countedFor(user: RateUser | null | undefined): { counted_for?: CountedFor } {
  return user ? { counted_for: { realm: user.realm, user_id: user.userId } } : {};
}

/** Null, as for what former versions started: in the tenant's limits alone. */
export function rateUserIn({ counted_for: kept }: { readonly counted_for?: CountedFor }): RateUser | null {
  return kept === undefined ? null : { realm: kept.realm, userId: kept.user_id };
}
