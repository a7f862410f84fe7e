/** A source as a form holds it, and the members of it that a request carries. */
import type { Schemas } from "../../../../programs/client/client.ts";
import { type Preset, partsOf } from "../words.ts";

type Source = Schemas["Source"];

export interface Draft {
  readonly source: string;
  readonly workflow: string;
  readonly version: string;
  readonly enabled: boolean;
  readonly preset: Preset;
  readonly tolerance: string;
  readonly requireTimestamp: boolean;
  readonly replayGuard: boolean;
  readonly acknowledge: "routed" | "received";
  readonly fallback: "none" | "body_sha256";
  readonly events: string;
  readonly match: string;
  readonly headers: string;
  readonly rate: string;
  readonly description: string;
}

export const emptyDraft: Draft = {
  source: "",
  workflow: "",
  version: "",
  enabled: true,
  preset: "svc",
  tolerance: "300",
  requireTimestamp: false,
  replayGuard: false,
  acknowledge: "routed",
  fallback: "none",
  events: "",
  match: "",
  headers: "*",
  rate: "",
  description: "",
};

/** What is usual for the senders of a preset. */
export const usualOf = (preset: Preset): Pick<Draft, "preset" | "replayGuard" | "acknowledge"> => ({
  preset,
  replayGuard: preset !== "svc",
  acknowledge: preset === "slack" ? "received" : "routed",
});

export const draftOf = (of: Source): Draft => ({
  source: of.source,
  workflow: of.workflow ?? "",
  version: of.workflow_version ?? "",
  enabled: of.enabled,
  preset: of.signature.preset,
  tolerance: String(of.signature.tolerance_seconds),
  requireTimestamp: of.require_timestamp,
  replayGuard: of.replay_guard,
  acknowledge: of.acknowledge,
  fallback: of.idempotency_fallback,
  events: of.events.join("\n"),
  match: of.match ?? "",
  headers: of.forward_headers.join("\n"),
  rate: of.rate_limit_per_minute === null ? "" : String(of.rate_limit_per_minute),
  description: of.description,
});

const textOrNull = (text: string): string | null => (text.trim() === "" ? null : text.trim());

function membersOf(draft: Draft) {
  return {
    workflow: textOrNull(draft.workflow),
    workflow_version: textOrNull(draft.version),
    enabled: draft.enabled,
    signature: { preset: draft.preset, tolerance_seconds: Number(draft.tolerance) },
    require_timestamp: draft.requireTimestamp,
    replay_guard: draft.replayGuard,
    acknowledge: draft.acknowledge,
    idempotency_fallback: draft.fallback,
    events: partsOf(draft.events),
    match: textOrNull(draft.match),
    forward_headers: partsOf(draft.headers),
    rate_limit_per_minute: draft.rate.trim() === "" ? null : Number(draft.rate),
    description: draft.description,
  };
}

/** What differs: what was not touched keeps following its default. @param before null: the usual of the draft's preset */
export function changeOf(draft: Draft, before: Draft | null): Partial<ReturnType<typeof membersOf>> {
  const known: Readonly<Record<string, unknown>> = membersOf(before ?? { ...emptyDraft, ...usualOf(draft.preset) });
  const members = membersOf(draft);
  const isKept = (name: string) => name === "signature" && before === null;
  return Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => isKept(name) || JSON.stringify(value) !== JSON.stringify(known[name]),
    ),
  );
}
