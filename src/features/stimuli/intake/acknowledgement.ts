/** Whether the answer to a stimulus waits for its run (docs/reference/stimuli.md). */
import type { Acknowledge } from "../../../../actors/stimulus/stimulus.ts";
import { preferredWait, prefersAsync } from "../../../http/preferences.ts";
import type { StimulusSource } from "../sources/port.ts";

/**
 * What the request prefers, else what its source says: `Prefer: respond-async` asks not to wait, `Prefer: wait=<seconds>`
 * to wait; where it says both, not to wait counts.
 */
export function acknowledgement(headers: Headers, source: Pick<StimulusSource, "acknowledge"> | null): Acknowledge {
  if (prefersAsync(headers)) return "received";
  return preferredWait(headers, 1) === null ? (source?.acknowledge ?? "routed") : "routed";
}
