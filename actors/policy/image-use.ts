/**
 * Whether an image that is on the host already may be used, or its registry has to let it be had again first
 * (docs/reference/sandboxes.md). Images are shared by everything that runs on a host: what was pulled with one
 * tenant's credential is not another tenant's to use.
 */

/** An image as the host has it. */
export interface ImageOnHost {
  /** It came by a pull with a credential, or may have: a pull with one is under way, or was cut off. */
  readonly isPrivate: boolean;
  /** A registry gave it to the credential that is used now, of the same tenant. */
  readonly isHolders: boolean;
}

/**
 * `use` what the host has; `ask` the registry, with the credential where there is one and without any otherwise, and use
 * what it gives; `refuse`.
 */
export type ImageUse = "use" | "ask" | "refuse";

/** @param onHost null: the host has no image of that name */
export function imageUse(pullPolicy: "Always" | "IfNotPresent" | "Never", onHost: ImageOnHost | null): ImageUse {
  if (pullPolicy === "Always") return "ask";
  if (onHost !== null && (!onHost.isPrivate || onHost.isHolders)) return "use";
  return pullPolicy === "Never" ? "refuse" : "ask";
}
