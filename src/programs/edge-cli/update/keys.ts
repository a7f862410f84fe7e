/** Who may sign releases for this program: keys of its build, and those that the host's owner lists. */
import type { ReleaseKey } from "./release-source.ts";

/** Written into the program by its build (release/build.ts): JSON. */
declare const SVC_EDGE_RELEASE_KEYS: string | undefined;

export const builtInKeys: readonly ReleaseKey[] =
  typeof SVC_EDGE_RELEASE_KEYS === "string" ? JSON.parse(SVC_EDGE_RELEASE_KEYS) : [];
