/** Who may see which volumes (docs/reference/volumes.md). */
import type { Identity } from "../../../actors/identity/identity.ts";
import type { Visibility } from "./records.ts";

/** What permission over volumes is decided by. Null: no particular user; sees what the whole tenant sees. */
export type VolumeReader = Pick<Identity, "kind" | "userId" | "membership" | "tier"> | null;

/** Owners see theirs; owners and admins of the tenant, service accounts and operators see all; others what is shared. */
export function visibilityOf(reader: VolumeReader): Visibility {
  if (reader === null) return { all: false, userId: null };
  const { kind, membership, userId } = reader;
  const all = kind === "service_account" || kind === "operator" || (kind === "tenant_user" && membership !== "member");
  return { all, userId };
}
