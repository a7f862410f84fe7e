/** Calls to the service by an operator's token. Proxies and authorities are those of the process's environment. */
import { readBody, UnreadableBody } from "../../../../lib/answer-body.ts";
import { serviceAddress } from "../../session/address.ts";
import { type Environment, variable } from "../command/environment.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { refusal } from "./refusal.ts";

const defaultUrl = "http://localhost:8080";
const timeoutMs = 30_000;
/** Of an answer that is no stream. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** A service that is away for a moment, as while a node is replaced, is asked again. */
const attempts = 4;
const pausesMs = [300, 1000, 2500];
const maxPauseMs = 10_000;

export interface CallOptions {
  readonly body?: unknown;
  /** Of a POST: makes it safe to repeat. */
  readonly idempotencyKey?: string;
  /** A POST that does the same when it comes again. */
  readonly isRepeatable?: boolean;
}

export interface StreamOptions extends CallOptions {
  readonly signal: AbortSignal;
  /** Events up to this one are known. */
  readonly after?: number;
}

export interface ServiceOptions {
  readonly url: string;
  /** Null: calls that need none, as those of daemons. */
  readonly token: string | null;
  readonly tenant: string | null;
  readonly version: string;
  /** Another token in place of one that was refused; null: there is none. */
  readonly renew?: (refused: string) => Promise<string | null>;
}

export type Service = ReturnType<typeof createService>;

/**
 * The service that the environment names.
 *
 * @param url of the service where SVC_API_URL does not name one, as an enrolled host knows it
 * @throws Failure `authentication` without SVC_USER_TOKEN, `usage` for a bad address
 */
export function serviceOf(environment: Environment, version: string, allowPlaintext: boolean, url?: string): Service {
  const address = variable(environment, "SVC_API_URL") ?? url ?? defaultUrl;
  const token = variable(environment, "SVC_USER_TOKEN");
  if (token === null && environment.noToken !== undefined) throw environment.noToken;
  if (token === null) throw new Failure("authentication", "SVC_USER_TOKEN is not set: it holds your token or API key");
  return createService({
    url: serviceAddress(address, "SVC_API_URL", allowPlaintext, usageFailure),
    ...{ token, tenant: variable(environment, "SVC_TENANT"), version },
    ...(environment.renewToken === undefined ? {} : { renew: environment.renewToken }),
  });
}

export function createService({ url, token: given, tenant, version, renew }: ServiceOptions) {
  let token = given;
  type Request = readonly [
    method: string,
    path: string,
    options: CallOptions,
    more: Record<string, string>,
    end: AbortSignal,
  ];

  /** A token that ended meanwhile is replaced once. */
  async function send(...request: Request): Promise<Response> {
    const response = await sendOnce(...request);
    if (response.status !== 401 || token === null) return response;
    const fresh = (await renew?.(token)) ?? null;
    if (fresh === null || fresh === token) return response;
    await response.body?.cancel();
    token = fresh;
    return sendOnce(...request);
  }

  async function sendOnce(...[method, path, options, more, end]: Request): Promise<Response> {
    const { body, idempotencyKey } = options;
    let response: Response;
    try {
      response = await fetch(url + path, {
        method,
        headers: {
          "Accept-Encoding": "identity",
          "User-Agent": `svc-edge/${version}`,
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          ...(tenant === null ? {} : tenantHeaders(tenant)),
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
          ...more,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: end,
        // A token goes nowhere but where it was meant to.
        redirect: "manual",
        decompress: false,
      });
    } catch (error) {
      throw unreachable(url, error);
    }
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Failure(
        "failed",
        `${url} answers with a redirect to ${response.headers.get("location")}`,
        "redirected",
      );
    }
    return response;
  }

  async function answerOf(response: Response): Promise<unknown> {
    try {
      const { bytes, truncated } = await readBody(response, maxAnswerBytes);
      if (truncated) throw new UnreadableBody("the answer is too large");
      const text = new TextDecoder().decode(bytes);
      if (!response.ok) throw refusal(response.status, parsed(text));
      return text === "" ? null : JSON.parse(text);
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (error instanceof SyntaxError || error instanceof UnreadableBody)
        throw new Failure("failed", `${url} gave an answer that is none of the service's`, "unreadable_answer");
      throw unreachable(url, error);
    }
  }

  return {
    url,

    /**
     * One call; what can be repeated safely is asked again while the service is away.
     * @returns the answer's body, which follows the API document; null without one
     * @throws Failure by what the service answered; `unavailable` when it cannot be reached
     */
    async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
      const isRepeatable = method !== "POST" || options.idempotencyKey !== undefined || options.isRepeatable === true;
      for (let attempt = 1; ; attempt += 1) {
        let pauseMs = pausesMs[attempt - 1] ?? maxPauseMs;
        try {
          const response = await send(
            method,
            path,
            options,
            { Accept: "application/json" },
            AbortSignal.timeout(timeoutMs),
          );
          pauseMs = Math.max(pauseMs, retryAfterMs(response));
          // The API document is the border: what it says is taken from here on.
          return (await answerOf(response)) as T;
        } catch (error) {
          const isAway = error instanceof Failure && error.exit === "unavailable" && error.code !== "rate_limited";
          if (!isAway || !isRepeatable || attempt === attempts || pauseMs > maxPauseMs) throw error;
          await Bun.sleep(pauseMs);
        }
      }
    },

    /** Opens a stream of events. @throws Failure as `call` does; it is asked once */
    async stream(method: string, path: string, options: StreamOptions): Promise<StreamAnswer> {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (options.after !== undefined && options.after > 0) headers["Last-Event-ID"] = String(options.after);
      const response = await send(method, path, options, headers, options.signal);
      const type = response.headers.get("content-type") ?? "";
      if (!response.ok || response.body === null || !type.startsWith("text/event-stream")) {
        await answerOf(response);
        throw new Failure("failed", `${url} gave an answer that is no stream`, "unreadable_answer");
      }
      return { body: response.body, runId: response.headers.get("x-svc-fleet-command-id") };
    },

    /** All items of a list, page by page; at most `most` of them. */
    async list<T>(path: string, query: readonly (readonly [string, string])[] = [], most = 100_000): Promise<T[]> {
      const items: T[] = [];
      for (let cursor: string | null = ""; cursor !== null && items.length < most; ) {
        const parameters = new URLSearchParams([...query.map(([name, value]) => [name, value]), ["limit", "500"]]);
        if (cursor !== "") parameters.set("cursor", cursor);
        const page: Page<T> = await this.call("GET", `${path}?${parameters}`);
        items.push(...page.items);
        cursor = page.next_cursor || null;
      }
      return items.slice(0, most);
    },
  };
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

export interface StreamAnswer {
  readonly body: ReadableStream<Uint8Array>;
  /** Of the run whose events these are, where the answer names it. */
  readonly runId: string | null;
}

/** Each kind of caller has a header of its own (docs/reference/identity.md); those of the others count for nothing. */
const tenantHeaders = (tenant: string): Record<string, string> => ({
  "X-Svc-Tenant": tenant,
  "X-Tenant-Id": tenant,
  ...(tenant.startsWith("t-") ? { "X-Svc-Team": tenant } : {}),
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const retryAfterMs = (response: Response): number => {
  const after = response.headers.get("retry-after") ?? "";
  return /^\d{1,6}$/.test(after) ? Number(after) * 1000 : 0;
};

/** What kept the request from its answer, without what the request held. */
export function unreachable(url: string, error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error);
  return new Failure("unavailable", `${url} cannot be reached: ${reason}`, "unreachable");
}
