/** What a user of a tenant's realm becomes in that tenant, and is from then on. Pure (docs/reference/identity.md). */
import { isAddress } from "./address.ts";
import type { Membership } from "./identity.ts";

/** What is looked at when a user of a tenant's realm comes for the first time. */
export interface FirstSight {
  /** By the role claim of the token; null: it claims none. */
  readonly claimed: Membership | null;
  /** That the identity provider vouches for; null: none. */
  readonly email: string | null;
  readonly hasOwner: boolean;
  /** Who shall own the tenant; null: its first user. */
  readonly ownerEmail: string | null;
  /** Of the pending invitation to the address; null: there is none. */
  readonly invited: InvitedRole | null;
  readonly defaultRole: InvitedRole;
}

/** A tenant has one owner, who is not made by invitation. */
export type InvitedRole = Exclude<Membership, "owner">;

/** The role that the new membership is stored with; the first that applies. */
export function roleAtFirstSight(sight: FirstSight): Membership {
  const { claimed, hasOwner, invited, defaultRole } = sight;
  if (claimed === "owner") return hasOwner ? "admin" : "owner";
  if (claimed !== null) return claimed;
  return isFutureOwner(sight) ? "owner" : (invited ?? defaultRole);
}

/** Whether a user becomes the owner of a tenant that has none: the one it was made for or, where none is named, the first. */
function isFutureOwner({ hasOwner, ownerEmail, email }: FirstSight): boolean {
  return !hasOwner && (ownerEmail === null || isAddress(email, ownerEmail));
}

/** Whether a member who comes again becomes the owner: where there is none, by claim or by the address it was made for. */
export const becomesOwner = ({
  claimed,
  hasOwner,
  ownerEmail,
  email,
}: Pick<FirstSight, "claimed" | "hasOwner" | "ownerEmail" | "email">): boolean =>
  !hasOwner && (claimed === "owner" || isAddress(email, ownerEmail));

/** A claim overrides what is stored, but makes no second owner and leaves the owner the owner. */
export function effectiveRole(stored: Membership, claimed: Membership | null): Membership {
  if (stored === "owner" || claimed === null) return stored;
  return claimed === "owner" ? "admin" : claimed;
}
