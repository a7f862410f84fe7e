/** Calls that may be repeated safely are, while the service is away for a moment, as while a node is replaced. */
import { Unreachable } from "../../client/errors.ts";
import { Failure } from "../frame/exit.ts";

const pausesMs = [300, 1_000, 2_500];
const longestPauseMs = 10_000;
const away = new Set([502, 503, 504]);

/**
 * `fetch` for one service. It follows no redirect: a token goes nowhere but where it was meant to.
 * A service that never answered is not waited for: it is not there.
 */
export function patiently(url: string): (request: Request) => Promise<Response> {
  let hasAnswered = false;
  return async (request) => {
    const isRepeatable = request.method !== "POST" || request.headers.has("Idempotency-Key");
    for (let attempt = 0; ; attempt += 1) {
      const pauseMs = pausesMs[attempt];
      const isLast = !isRepeatable || pauseMs === undefined;
      const again = isLast ? null : request.clone();
      let response: Response;
      try {
        response = await fetch(request, { redirect: "manual" });
      } catch (error) {
        if (request.signal.aborted) throw error;
        if (again === null || !hasAnswered) throw new Unreachable(error);
        await Bun.sleep(pauseMs ?? 0);
        request = again;
        continue;
      }
      hasAnswered = true;
      if (response.status >= 300 && response.status < 400 && response.status !== 304) {
        await response.body?.cancel();
        const target = response.headers.get("location");
        throw new Failure("failed", `${url} answers with a redirect to ${target}`, null, "redirected");
      }
      const waitMs = Math.max(pauseMs ?? 0, Number(response.headers.get("Retry-After") ?? 0) * 1_000);
      if (again === null || !away.has(response.status) || !(waitMs <= longestPauseMs)) return response;
      await response.body?.cancel();
      await Bun.sleep(waitMs);
      request = again;
    }
  };
}
