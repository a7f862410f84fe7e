/** The settings of a source, read from a request: defaults, merging, and what no schema can see. */

import { type Issue, invalidField, invalidRequest, Problem } from "../../../../actors/kernel/problem.ts";
import { isReference, readReference, type SecretReference } from "../../../../actors/manifest/references.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import { isReservedSource, parseSource } from "../../../../actors/stimulus/routing.ts";
import { matchFault } from "../../../../actors/template/matching.ts";
import type { StimulusSource } from "./port.ts";
import { presets } from "./presets/presets.ts";
import type { NewSource, SourceChange } from "./schema.ts";

/** The configurable part of a source; its secret apart. */
export type SourceSettings = Omit<StimulusSource, "id" | "tenant"> & { readonly description: string };

/** What is to become of a source's secret. */
export type SecretChange = "keep" | "remove" | "mint" | GivenSecret;

/** A secret as a caller gives it: its text, or where it stands. */
export type GivenSecret = { readonly text: string } | { readonly reference: SecretReference };

/** Seconds, where a source says nothing else. */
export const defaultTolerance = 300;

/**
 * A new source's settings.
 * @throws Problem 422 `validation_failed`, `reserved_source`
 */
export function newSettings(body: NewSource): SourceSettings {
  const source = parseSource(body.source);
  if (source === null) {
    throw invalidField(
      "source",
      "must be 1–128 printable ASCII characters without / ? # % and blanks, first one alphanumeric",
    );
  }
  if (isReservedSource(source))
    throw new Problem("reserved_source", `The source ${source} is served by the service itself`);
  return withDefaults(source, body);
}

/**
 * Every setting anew: what the body leaves out gets its default.
 * @throws Problem 422 `validation_failed`, `immutable_field`
 */
export function replacedSettings(settings: SourceSettings, body: SourceChange): SourceSettings {
  refuseOtherSource(settings, body);
  return withDefaults(settings.source, body);
}

/**
 * The settings with those the body names changed. Another workflow drops the version that was pinned of the one before.
 * @throws Problem 422 `validation_failed`, `immutable_field`
 */
export function changedSettings(settings: SourceSettings, body: SourceChange): SourceSettings {
  refuseOtherSource(settings, body);
  const namesAnother = body.workflow !== undefined && body.workflow !== settings.workflow;
  const { preset, toleranceSeconds } = body.signature === undefined ? settings : signatureOf(body.signature);
  return checked({
    source: settings.source,
    workflow: body.workflow === undefined ? settings.workflow : body.workflow,
    workflowVersion:
      body.workflow_version === undefined ? (namesAnother ? null : settings.workflowVersion) : body.workflow_version,
    enabled: body.enabled ?? settings.enabled,
    preset,
    toleranceSeconds,
    replayGuard: body.replay_guard ?? settings.replayGuard,
    requireTimestamp: body.require_timestamp ?? settings.requireTimestamp,
    acknowledge: body.acknowledge ?? settings.acknowledge,
    idempotencyFallback: body.idempotency_fallback ?? settings.idempotencyFallback,
    events: body.events === undefined ? settings.events : [...new Set(body.events)],
    match: body.match === undefined ? settings.match : body.match,
    forwardHeaders: body.forward_headers === undefined ? settings.forwardHeaders : headerNames(body.forward_headers),
    ratePerMinute: body.rate_limit_per_minute === undefined ? settings.ratePerMinute : body.rate_limit_per_minute,
    description: body.description ?? settings.description,
  });
}

/** @throws Problem 422 `validation_failed` */
export function secretChangeOf({ secret, generate_secret = false }: SourceChange): SecretChange {
  if (generate_secret && secret !== undefined && secret !== null) {
    throw invalidField("generate_secret", "cannot be combined with secret");
  }
  if (generate_secret) return "mint";
  if (secret === undefined) return "keep";
  if (secret === null) return "remove";
  return givenSecret(secret);
}

/** @throws Problem 422 `validation_failed` */
export function givenSecret(secret: string): GivenSecret {
  if (!isStorable(secret)) throw invalidField("secret", "may not hold NUL or broken Unicode");
  if (!isReference(secret)) return { text: secret };
  const reference = readReference(secret);
  if (typeof reference === "string") throw invalidField("secret", reference);
  if (reference.kind === "secret") return { reference };
  throw invalidField("secret", "may refer to secrets only");
}

/** Names of the settings in which two states of a source differ, as the wire calls them. */
export function differences(before: SourceSettings, after: SourceSettings): string[] {
  const named: readonly (readonly [string, keyof SourceSettings])[] = [
    ["workflow", "workflow"],
    ["workflow_version", "workflowVersion"],
    ["enabled", "enabled"],
    ["signature", "preset"],
    ["signature", "toleranceSeconds"],
    ["replay_guard", "replayGuard"],
    ["require_timestamp", "requireTimestamp"],
    ["acknowledge", "acknowledge"],
    ["idempotency_fallback", "idempotencyFallback"],
    ["events", "events"],
    ["match", "match"],
    ["forward_headers", "forwardHeaders"],
    ["rate_limit_per_minute", "ratePerMinute"],
    ["description", "description"],
  ];
  const differing = named.filter(([, key]) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  return [...new Set(differing.map(([name]) => name))];
}

function withDefaults(source: string, body: Omit<SourceChange, "source">): SourceSettings {
  const signature = signatureOf(body.signature ?? "svc");
  return checked({
    source,
    workflow: body.workflow ?? null,
    workflowVersion: body.workflow_version ?? null,
    enabled: body.enabled ?? true,
    ...signature,
    replayGuard: body.replay_guard ?? null,
    requireTimestamp: body.require_timestamp ?? false,
    acknowledge: body.acknowledge ?? (signature.preset === "slack" ? "received" : "routed"),
    idempotencyFallback: body.idempotency_fallback ?? "none",
    events: [...new Set(body.events ?? [])],
    match: body.match ?? null,
    forwardHeaders: headerNames(body.forward_headers ?? ["*"]),
    ratePerMinute: body.rate_limit_per_minute ?? null,
    description: body.description ?? "",
  });
}

function signatureOf(
  signature: NonNullable<SourceChange["signature"]>,
): Pick<SourceSettings, "preset" | "toleranceSeconds"> {
  if (typeof signature === "string") return { preset: signature, toleranceSeconds: defaultTolerance };
  return { preset: signature.preset, toleranceSeconds: signature.tolerance_seconds ?? defaultTolerance };
}

const headerNames = (names: readonly string[]): string[] => [...new Set(names.map((name) => name.toLowerCase()))];

function refuseOtherSource({ source }: SourceSettings, body: SourceChange): void {
  if (body.source === undefined || body.source.toLowerCase() === source) return;
  throw new Problem("immutable_field", "The source of a route cannot be changed", { field: "source" });
}

function checked(settings: SourceSettings): SourceSettings {
  const texts = {
    workflow: "workflow",
    workflow_version: "workflowVersion",
    match: "match",
    description: "description",
  } as const;
  const issues: Issue[] = Object.entries(texts).flatMap(([path, key]) =>
    isStorable(settings[key] ?? "") ? [] : [{ path, message: "may not hold NUL or broken Unicode", code: "invalid" }],
  );
  if (settings.workflow === null && settings.workflowVersion !== null) {
    issues.push({ path: "workflow_version", message: "needs a workflow", code: "invalid" });
  }
  if (settings.requireTimestamp && !presets[settings.preset].canCarryTime) {
    const message = `deliveries of the preset ${settings.preset} carry no signed time`;
    issues.push({ path: "require_timestamp", message, code: "invalid" });
  }
  if (settings.events.length > 0 && presets[settings.preset].eventNames === null) {
    const message = `deliveries of the preset ${settings.preset} name no events; use match`;
    issues.push({ path: "events", message, code: "invalid" });
  }
  const fault = settings.match === null ? null : matchFault(settings.match);
  if (fault !== null) issues.push({ path: "match", message: fault, code: "invalid" });
  if (issues.length > 0) throw invalidRequest(issues);
  return settings;
}
