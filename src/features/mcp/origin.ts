/** Which pages may speak to the tool server: those of the service itself and those that may call the API. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Incoming } from "../../http/route.ts";

export interface OriginOptions {
  readonly publicUrl: string;
  /** `*` is any. */
  readonly corsOrigins: readonly string[];
  /** In development the `Host` of every request is one of this machine: a page of the same host is an own one. */
  readonly development: boolean;
}

/**
 * Makes the check of `Origin`. A request without one comes from no page.
 * @throws Problem 403 `origin_forbidden`, also for an origin that cannot be read, such as `null`
 */
export function originCheck({ publicUrl, corsOrigins, development }: OriginOptions) {
  const own = new URL(publicUrl).origin;
  return ({ request }: Pick<Incoming, "request">): void => {
    const origin = request.headers.get("origin");
    if (origin === null || origin === own || corsOrigins.includes(origin) || corsOrigins.includes("*")) return;
    const host = request.headers.get("host");
    if (development && host !== null && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()) return;
    throw new Problem("origin_forbidden", "Pages of this origin may not speak to the tool server");
  };
}
