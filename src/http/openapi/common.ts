/** Headers of requests and answers that many operations share, as components of the API document. */

const text = { type: "string" } as const;

/** Of every caller with a bearer token. */
const parameters = {
  ActingTenant: {
    name: "X-Svc-Tenant",
    in: "header",
    required: false,
    description: "Of operators with the role admin: the tenant to act in",
    schema: text,
  },
  ServedTenant: {
    name: "X-Tenant-Id",
    in: "header",
    required: false,
    description: "Of service accounts: the tenant to act in",
    schema: text,
  },
  Team: {
    name: "X-Svc-Team",
    in: "header",
    required: false,
    description: "Of people: the team in whose tenant they act",
    schema: text,
  },
} as const;

const headers = {
  RequestId: { description: "Of this request, for support", schema: text },
  Warnings: { description: "What of the request had no effect: a JSON list of `{path, code, message}`", schema: text },
  RateLimit: {
    description: "Of the tightest rate of the caller that this operation counts",
    schema: { type: "integer" },
  },
  RetryAfter: { description: "Seconds after which the same may succeed", schema: { type: "integer", minimum: 0 } },
} as const;

export const commonComponents = { parameters, headers };

export const callerParameters = Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));

const header = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });

export const requestId = { "X-Request-Id": header("RequestId") };

const rateNames = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];
const rateHeaders = Object.fromEntries(rateNames.map((name) => [name, header("RateLimit")]));

/** @param isCounted whether the operation debits a rate of the caller */
export const answerHeaders = (isCounted: boolean): Readonly<Record<string, unknown>> => ({
  ...requestId,
  "X-Svc-Warnings": header("Warnings"),
  ...(isCounted ? rateHeaders : {}),
});

/** Of a refusal with this status. */
export const refusalHeaders = (status: number): { readonly headers?: Readonly<Record<string, unknown>> } =>
  status === 429 || status === 503 ? { headers: { "Retry-After": header("RetryAfter") } } : {};
