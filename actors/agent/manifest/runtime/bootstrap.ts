/** Whether a program may take the bootstrap's place: asked when an agent is deployed and at each of its starts. */
import type { NodeOffer } from "../spec.ts";

/**
 * In a container it is a program of the image. Without one it would be a program of the host: never in production, in
 * development as far as the node lets it.
 * @param isolation the one that will be used: `inherit` resolved, overrides applied
 * @returns what is wrong, as a message of an issue; null for nothing
 */
export function bootstrapFault(
  path: string | null,
  isolation: string,
  offer: Pick<NodeOffer, "development" | "programFault">,
): string | null {
  if (path === null || isolation !== "process") return null;
  if (!offer.development) return "under `process` the service's own bootstrap runs";
  return offer.programFault(isolation, path);
}
