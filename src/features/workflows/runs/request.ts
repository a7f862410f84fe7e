/** What requests about runs say, as far as their shape can be judged without workflow or run. */

import { signalText } from "../../../../actors/approval/answers.ts";
import type { Identity } from "../../../../actors/identity/identity.ts";
import { starterOf } from "../../../../actors/identity/starter.ts";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { notOneOf } from "../../../../actors/kernel/nearest.ts";
import { invalidAt, Problem } from "../../../../actors/kernel/problem.ts";
import { readTime } from "../../../../actors/kernel/time.ts";
import { isStorable, isStorableJson, unusableText } from "../../../../actors/manifest/storable.ts";
import { rateUserOf } from "../../../../actors/policy/rates/limits.ts";
import { jsonBytes } from "../../../../actors/workflow/run/blackboard/size.ts";
import { initiatorOf, type RunRequest } from "../../../../actors/workflow/run/start/request.ts";
import { RunStatus } from "../../../../actors/workflow/run/state.ts";
import { isUuid } from "../../../http/route.ts";
import type { Signal } from "../../approvals/port.ts";
import type { RunFilter } from "./records.ts";
import type { NamedStartBody, RunsFilter, SignalBody, StartBody, StartQuery } from "./schema.ts";

export { initiatorOf };

const maxIntentBytes = 16 * 1024;
const maxReasonBytes = 4 * 1024;
const maxResponseBytes = 64 * 1024;
const maxPayloadBytes = 64 * 1024;
const statuses: ReadonlySet<string> = new Set(RunStatus.anyOf.map((one) => one.const));

export interface Caller {
  readonly tenant: string;
  readonly identity: Identity;
}

/**
 * The request of a caller.
 * @param ref name or UUID of the workflow
 * @throws Problem 422 `validation_failed`, `invalid_blackboard`
 */
export function readStart({ tenant, identity }: Caller, ref: string, body: StartBody, query: StartQuery): RunRequest {
  const { blackboard = null, context_overrides = null, intent = "" } = body;
  return {
    tenant,
    ref: plainText("workflow_name", ref, 1024),
    version: agreed("version", body.version, query.version),
    input: body.input ?? null,
    blackboard: mergedOverrides([
      { path: "context_overrides", value: context_overrides },
      { path: "blackboard", value: blackboard },
    ]),
    intent: plainText("intent", intent, maxIntentBytes),
    attachments: body.attachments ?? [],
    timeoutSeconds: agreed("timeout", body.timeout, body.timeout_seconds),
    securityContext: body.security_context_name ?? null,
    starter: identity,
    startedBy: starterOf(identity),
    countedFor: rateUserOf(identity),
    initiatedBy: initiatorOf(identity),
    parent: null,
    stimulusId: null,
    rateExempt: false,
  };
}

/**
 * What a request lays over the blackboard.
 * @param given of every spelling; later ones win
 * @throws Problem 422 `invalid_blackboard`
 */
function mergedOverrides(given: readonly { readonly path: string; readonly value: Json }[]): Json {
  const objects = given.flatMap(({ path, value }) => {
    if (value === null) return [];
    if (!isObject(value)) throw invalidAt("invalid_blackboard", path, "must be an object or null");
    return [value];
  });
  return objects.length === 0 ? null : Object.fromEntries(objects.flatMap((one) => Object.entries(one)));
}

/** @throws Problem 422 when neither is given */
export function namedWorkflow({ workflow_id, workflow_name }: NamedStartBody): string {
  const ref = workflow_id ?? workflow_name;
  if (ref === undefined)
    throw invalidAt("validation_failed", "workflow_name", "workflow_id or workflow_name is required");
  return ref;
}

/** One value under two names, or at two places: both may be given, but not two different ones. */
function agreed<T extends string | number>(path: string, one: T | undefined, other: T | undefined): T | null {
  if (one !== undefined && other !== undefined && one !== other) {
    throw invalidAt("validation_failed", path, "is given twice, differently");
  }
  const value = one ?? other ?? null;
  if (typeof value === "string") plainText(path, value, 1024);
  return value;
}

function plainText(path: string, text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) > maxBytes)
    throw invalidAt("validation_failed", path, `is larger than ${maxBytes} bytes`);
  if (!isStorable(text)) throw invalidAt("validation_failed", path, unusableText);
  return text;
}

/** @throws Problem 400 `invalid_id`, 422 `validation_failed` */
export function readFilter(asked: RunsFilter): RunFilter {
  const { workflow_id, workflow_name, status, parent_execution_id, schedule_id, started_after, started_before } = asked;
  if (workflow_id !== undefined && !isUuid(workflow_id)) throw new Problem("invalid_id", "Invalid workflow ID");
  const wanted = status?.split(",").map((name) => name.trim()) ?? null;
  const unknown = wanted?.find((name) => !statuses.has(name));
  if (unknown !== undefined) throw invalidAt("validation_failed", "status", notOneOf(unknown, statuses));
  return {
    workflowId: workflow_id?.toLowerCase() ?? null,
    workflowName: workflow_name ?? null,
    statuses: wanted,
    parentRunId: parent_execution_id?.toLowerCase() ?? null,
    scheduleId: schedule_id?.toLowerCase() ?? null,
    startedAfter: started_after === undefined ? null : readTime("started_after", started_after),
    startedBefore: started_before === undefined ? null : readTime("started_before", started_before),
  };
}

export const readReason = (reason: string | undefined): string | null =>
  reason === undefined ? null : plainText("reason", reason, maxReasonBytes);

/** A signal, read for an approval; `carried` is what a Wait gets of it. */
export interface RunSignal extends Signal {
  /** The payload, else the response; empty: it has neither. */
  readonly carried: { readonly payload?: Json };
}

/**
 * What a signal says (docs/reference/workflow-waits.md).
 * @throws Problem 422 when there is neither a response nor a name, a text no store can hold, or too long a payload
 */
export function readSignal({ response, signal_name, payload }: SignalBody): RunSignal {
  if (response === undefined && signal_name === undefined) {
    throw invalidAt("validation_failed", "response", "response or signal_name is required");
  }
  if (!isStorableJson(payload ?? null)) throw invalidAt("validation_failed", "payload", unusableText);
  if (payload !== undefined && jsonBytes(payload) > maxPayloadBytes) {
    throw invalidAt("validation_failed", "payload", `is larger than ${maxPayloadBytes} bytes`);
  }
  if (signal_name !== undefined) plainText("signal_name", signal_name, maxResponseBytes);
  const given = { response: response ?? null, signal_name: signal_name ?? null, payload: payload ?? null };
  const text = plainText("response", signalText(given) ?? "", maxResponseBytes);
  const carried = payload ?? response;
  return {
    signalName: given.signal_name,
    text,
    payload: given.payload,
    carried: carried === undefined ? {} : { payload: carried },
  };
}
