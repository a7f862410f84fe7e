/** What Waits are found by. */
import type { Watch } from "../../../../actors/workflow/run/activities/stimulus.ts";
import { sha256Hex } from "../../../lib/digest.ts";

/** What a Wait is found by beside its source; both are empty where any payload will do. */
export interface Watched {
  readonly key: string;
  /** Hex: texts may be long. */
  readonly equals: string;
}

export function watchedOf({ key, equals }: Pick<Watch, "key" | "equals">): Watched {
  return key === null ? { key: "", equals: "" } : { key, equals: sha256Hex(equals ?? "") };
}
