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

/** Reads a refusal of any shape: a proxy's is HTML, an OAuth endpoint's names `error_description`. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const body = objectOf(await response.json().catch(() => null));
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return new ApiError(
    response.status,
    textOf(body.code) ?? "unknown_error",
    textOf(body.error_description) ?? textOf(body.error) ?? `${response.status} ${response.statusText}`.trim(),
    Array.isArray(body.issues) ? body.issues.map(issueOf) : [],
    textOf(body.request_id) ?? response.headers.get("X-Request-Id"),
    Number.isFinite(retryAfter) ? retryAfter : null,
    body,
  );
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
