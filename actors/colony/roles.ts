/** Who may make whom what in a colony. Pure. */
import type { Membership } from "../identity/identity.ts";
import { Problem } from "../kernel/problem.ts";

export interface RoleChange {
  /** Of the caller in the colony. */
  readonly by: Membership;
  /** What the member is now. */
  readonly from: Membership;
  readonly to: Membership;
}

/**
 * What a change of a member's role comes to: `transfer` makes the member the owner and the former owner an admin.
 * @throws Problem 403 `owner_only`, 409 `owner_role_immutable`
 */
export function decideRoleChange({ by, from, to }: RoleChange): "nothing" | "change" | "transfer" {
  if (from === to) return "nothing";
  if (from === "owner") throw ownerRoleImmutable();
  if (to !== "owner") return "change";
  if (by !== "owner") throw ownerOnly();
  return "transfer";
}

export const ownerRoleImmutable = () =>
  new Problem("owner_role_immutable", "The owner's role only changes by making another member the owner");

export const ownerOnly = () => new Problem("owner_only", "Only the owner may do this");
