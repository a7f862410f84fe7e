/**
 * The activity `workflow.http`: one request of a state through the guarded egress. It follows no redirect. Secrets are
 * taken when it is sent, on record, and hidden in all that comes back.
 */
import type { NetworkSpec } from "../../../../../actors/agent/manifest/spec.ts";
import { type Json, nestsDeeper } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { workflowInput } from "../../../../../actors/manifest/json-schema/input-schema.ts";
import { referencesIn } from "../../../../../actors/manifest/references.ts";
import { type HttpAnswer, type HttpCall, httpCall } from "../../../../../actors/workflow/run/activities/http-call.ts";
import type { RunHeader } from "../../../../../actors/workflow/run/state.ts";
import {
  EgressFailed,
  EgressRefused,
  type GuardedOptions,
  type GuardedResponse,
  guardedFetch,
} from "../../../../adapters/egress/port.ts";
import { Masker } from "../../../../lib/masking/masker.ts";
import { checkAgainstSchema } from "../../../../lib/schema-check/input-check.ts";
import { storable } from "../../../../lib/storable.ts";
import { type Activity, type ActivityContext, type Address, implement } from "../../../../runtime/port.ts";
import { contentTypeOf, requestHeaders } from "../../../executions/port.ts";
import { type Incidents, reportRefusedCall } from "../../../incidents/port.ts";
import type { References } from "../../../references/port.ts";
import { workflowUse } from "../commands/secrets.ts";

export interface HttpCallOptions {
  readonly outside: GuardedOptions;
  readonly incidents: Pick<Incidents, "report">;
  readonly references: Pick<References, "take">;
  /** What the run's state says of it; null: it is gone. */
  readonly headerOf: (run: Address) => Promise<Pick<RunHeader, "initiated_by"> | null>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Of an answer's body, and of its headers together. */
const maxBodyBytes = 1_048_576;
const maxHeaderBytes = 65_536;
/** Levels of a JSON body; one that nests deeper stays text. */
const deepest = 256;

/** The headers to send, and what hides the secrets in them; null: there are none. */
interface Secured {
  readonly headers: Readonly<Record<string, string>>;
  readonly masker: Masker | null;
}

export function httpCallActivity(options: HttpCallOptions): Activity {
  const { outside, incidents, references, headerOf, now } = options;

  /** @throws Problem for a secret that cannot be used, 503 where a store is away */
  async function secured(call: HttpCall, run: Address): Promise<Secured> {
    const { headers, secrets, workflow_name: workflow } = call;
    if (secrets.length === 0) return { headers, masker: null };
    const initiatedBy = (await headerOf(run))?.initiated_by;
    if (initiatedBy === undefined) throw new Problem("workflow_execution_not_found", "The run was removed");
    const { tenant } = run;
    // Where a definition of all tenants refers to a secret, no run of it began in another tenant.
    const use = workflowUse({ tenant, executionId: call.run_id, owner: tenant }, { workflow, initiatedBy });
    const placed = referencesIn(Object.fromEntries(secrets.map((name) => [name, headers[name] ?? ""])), "");
    const resolved = await references.take(use, placed);
    const masker = new Masker();
    const hidden = [...resolved.values()].flatMap(({ hidden }) => hidden.map((value) => value.reveal()));
    // Names of headers come back in lower case.
    masker.hide([...hidden, ...hidden.map((value) => value.toLowerCase())]);
    const values = placed.map(({ path, reference }) => {
      return [path.slice(1), resolved.get(reference.text)?.value.reveal() ?? ""] as const;
    });
    return { headers: { ...headers, ...Object.fromEntries(values) }, masker };
  }

  async function send(call: HttpCall, headers: Secured["headers"], signal: AbortSignal): Promise<GuardedResponse> {
    const { url, method, listed, body, idempotency_key, timeout_ms } = call;
    const network: NetworkSpec = { mode: "deny", allowlist: listed, denylist: [] };
    const defaults = { "User-Agent": "svc", ...(body === null ? {} : { "Content-Type": contentTypeOf(body) }) };
    return guardedFetch(
      {
        ...{ url, method, network, signal, timeoutMs: timeout_ms, maxBytes: maxBodyBytes },
        headers: requestHeaders(defaults, headers, { "Idempotency-Key": idempotency_key }),
        ...(body === null ? {} : { body }),
        reach: "public",
        follow: false,
      },
      outside,
    );
  }

  async function answer(call: HttpCall, context: ActivityContext): Promise<HttpAnswer> {
    const { actor, signal } = context;
    const { tenant } = actor;
    const begun = now();
    const took = () => Math.max(0, Math.round(now() - begun));
    let masker: Masker | null = null;
    try {
      const ready = await secured(call, actor);
      masker = ready.masker;
      const response = await send(call, ready.headers, signal);
      const read = readResponse(response, masker);
      return { ...read, duration_ms: took(), ...(await unmet(call, response, read.body, tenant)) };
    } catch (error) {
      // Tried again with the same key: the state was not left, and nothing is wrong with the request.
      if (signal.aborted || (error instanceof Problem && error.status >= 500)) throw error;
      reportRefusedCall(incidents, { tenant, agentId: null, executionId: call.run_id }, error);
      const { code, message } = failureOf(error);
      const told = masker === null ? message : masker.mask(message);
      return { ...nothing, duration_ms: took(), error: code, message: told };
    }
  }

  return implement(httpCall, { concurrency: 128, retry: { attempts: 20, firstDelayMs: 500 } }, answer);
}

const nothing = { http_status: null, headers: {}, body: null };

function readResponse({ status, headers, body, truncated }: GuardedResponse, masker: Masker | null) {
  const read = truncated ? null : bodyOf(body, headers.get("content-type") ?? "", masker);
  return { http_status: status, headers: storable(headersOf(headers, masker)), body: storable(read) };
}

/** By lower-case names, as many as fit. */
function headersOf(headers: Headers, masker: Masker | null): Record<string, string> {
  const kept: Record<string, string> = {};
  let left = maxHeaderBytes;
  for (const [name, value] of headers) {
    left -= Buffer.byteLength(name) + Buffer.byteLength(value);
    if (left < 0) break;
    kept[masker === null ? name : masker.mask(name)] = masker === null ? value : masker.mask(value);
  }
  return kept;
}

/** JSON where the answer says so, else text; bytes that are no text in base64. */
function bodyOf(bytes: Uint8Array, contentType: string, masker: Masker | null): Json {
  const text = utf8(bytes);
  if (text === null) {
    const latin = Buffer.from(bytes).toString("latin1");
    return Buffer.from(masker === null ? latin : masker.mask(latin), "latin1").toString("base64");
  }
  const value = isJson(contentType) ? jsonOf(text) : text;
  return masker === null ? value : masker.maskJson(value);
}

const isJson = (contentType: string): boolean => /^[^;]*[/+]json\s*(?:;|$)/i.test(contentType);

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function jsonOf(text: string): Json {
  if (nestsDeeper(text, deepest)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** What is wrong with an answer; nulls: it is as expected. */
async function unmet(
  { expect: { status: wanted, schema } }: HttpCall,
  { status, truncated }: GuardedResponse,
  body: Json,
  tenant: string,
): Promise<Pick<HttpAnswer, "error" | "message">> {
  if (truncated) return { error: "response_too_large", message: `The answer has more than ${maxBodyBytes} bytes` };
  const isWanted = wanted.length === 0 ? status >= 200 && status <= 299 : wanted.includes(status);
  if (!isWanted) return { error: "unexpected_response", message: `The answer has status ${status}` };
  if (schema === null) return { error: null, message: null };
  const characters = JSON.stringify(body).length;
  const rules = { rules: workflowInput, most: maxBodyBytes * 2 };
  const verdict = await checkAgainstSchema({ tenant, left: null }, schema, body, characters, rules);
  if (verdict.ok) return { error: null, message: null };
  const [first] = verdict.issues;
  const why = first === undefined ? "it does not fit" : `${first.path.replace(/^input/, "body")}: ${first.message}`;
  return { error: "unexpected_response", message: `The answer's body does not fit its schema: ${why}` };
}

function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof EgressRefused) {
    const code = error.reason.endsWith("_address") ? "address_blocked" : "host_not_allowed";
    return { code, message: error.message };
  }
  if (error instanceof EgressFailed || error instanceof Problem) return { code: error.code, message: error.message };
  return { code: "request_failed", message: "The request could not be sent" };
}
