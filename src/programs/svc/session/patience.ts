/** Calls that may be repeated safely are, while the service is away for a moment, as while a node is replaced. */
import { Failure } from "../process/exit.ts";

const pausesMs = [300, 1_000, 2_500];
const longestPauseMs = 10_000;
const away = new Set([502, 503, 504]);

/**
 * `fetch` for one service. It follows no redirect: a token goes nowhere but where it was meant to.
 * A service that never answered is not waited for: it is not there.
 */
export function patiently(url: string): (request: Request) => Promise<Response> {
  let hasAnswered = false;
  const attempt = async (request: Request): Promise<Response | Failure> => {
    try {
      const response = await fetch(request, { redirect: "manual" });
      hasAnswered = true;
      return response;
    } catch (error) {
      if (request.signal.aborted) throw error;
      return unreachable(url, error);
    }
  };
  return async (request) => {
    const isRepeatable = request.method !== "POST" || request.headers.has("Idempotency-Key");
    let next = request;
    for (const pauseMs of isRepeatable ? pausesMs : []) {
      const again = next.clone();
      const answered = await attempt(next);
      const waitMs = waitFor(answered, pauseMs);
      if (waitMs === null || !hasAnswered) return settled(answered, url);
      if (answered instanceof Response) await answered.body?.cancel();
      await Bun.sleep(waitMs);
      next = again;
    }
    return settled(await attempt(next), url);
  };
}

/** How long to wait before the same is asked again, ms; null: it is settled. */
function waitFor(answered: Response | Failure, pauseMs: number): number | null {
  if (answered instanceof Failure) return pauseMs;
  if (!away.has(answered.status)) return null;
  const wanted = Number(answered.headers.get("Retry-After") ?? 0) * 1_000;
  return wanted <= longestPauseMs ? Math.max(pauseMs, wanted) : null;
}

async function settled(answered: Response | Failure, url: string): Promise<Response> {
  if (answered instanceof Failure) throw answered;
  if (answered.status < 300 || answered.status >= 400 || answered.status === 304) return answered;
  await answered.body?.cancel();
  const target = answered.headers.get("location");
  throw new Failure("failed", `${url} answers with a redirect to ${target}`, null, "redirected");
}

/** What kept the request from its answer, without what the request held. */
function unreachable(url: string, error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    ECONNREFUSED: "nothing listens there",
    ConnectionRefused: "nothing listens there",
    ENOTFOUND: "there is no such host",
    ETIMEDOUT: "it does not answer",
  };
  return new Failure("unavailable", `${url} cannot be reached: ${reasons[code ?? ""] ?? message}`, null, "unreachable");
}
