/** What can go wrong with a call: the service said no, or it could not be reached. */

/** One finding of a refusal. */
export interface Issue {
  /** The dotted place in the body, or the parameter; empty for the whole. */
  readonly path: string;
  readonly message: string;
  readonly code: string | null;
  /** Where in a manifest, from 1; null: not told. */
  readonly line: number | null;
}

/** The service answered, and refused. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    /** `unknown_error` where the answer names none. */
    readonly code: string,
    message: string,
    readonly issues: readonly Issue[],
    readonly requestId: string | null,
    /** Seconds after which the same may succeed; null: not told. */
    readonly retryAfter: number | null,
    /** The whole answer: some codes bring members of their own. */
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** The service could not be reached. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  constructor(cause: unknown) {
    super(`svc cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/**
 * Reads a refusal of any shape: a proxy's is HTML, an OAuth endpoint's names `error_description`, that of a signed call
 * or of JSON-RPC holds an object.
 */
export async function refusalOf(response: Response): Promise<ApiError> {
  return refusal(response.status, response.statusText, response.headers, await response.text().catch(() => ""));
}

/** The same of an answer that was read by other means. @param text its body */
export function refusal(status: number, reason: string, headers: Headers, text: string): ApiError {
  const body = objectOf(jsonOf(text));
  const { code, error, error_description } = body;
  return new ApiError(
    status,
    textOf(code) ?? textOf(objectOf(error).name) ?? "unknown_error",
    textOf(error_description) ?? textOf(error) ?? textOf(objectOf(error).message) ?? `${status} ${reason}`.trim(),
    Array.isArray(body.issues) ? body.issues.map(issueOf) : [],
    textOf(body.request_id) ?? headers.get("X-Request-Id"),
    secondsOf(headers.get("Retry-After")),
    body,
  );
}

/** Of `Retry-After`: seconds, or a date as HTTP has it. */
function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const text = header.trim();
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function issueOf(value: unknown): Issue {
  const { path, message, code, line } = objectOf(value);
  return {
    path: textOf(path) ?? "",
    message: textOf(message) ?? "",
    code: textOf(code),
    line: typeof line === "number" ? line : null,
  };
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
