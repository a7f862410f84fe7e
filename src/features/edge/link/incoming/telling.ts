/** Tells hosts what their links are like, until they have heard it. */
import { type Admission, admission } from "../handshake/admission.ts";
import type { Link } from "../link.ts";

export interface TellingOptions {
  /** Steady, ms. */
  readonly steady: () => number;
  /** Tells the host of the link all of it. */
  readonly tell: (link: Link) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** What one link changes in a second is told so often at most; a daemon that says another thing each time is put off. */
const perSecond = 4;

/** @returns tells it now; where that fails, or would be too often, the link is behind, and its next heartbeat tells it */
export function createTelling({ steady, tell, failed }: TellingOptions): (link: Link) => void {
  const admissions = new WeakMap<Link, Admission>();
  return (link) => {
    const admitting = admissions.get(link) ?? admission(perSecond, steady);
    admissions.set(link, admitting);
    link.isBehind = !admitting.admits();
    if (link.isBehind) return;
    tell(link).catch((error: unknown) => {
      link.isBehind = true;
      failed(error);
    });
  };
}
