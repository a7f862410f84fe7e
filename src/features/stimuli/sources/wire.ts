/** Stored sources as the port and the wire show them. */
import type { StimulusSource } from "./port.ts";
import { presets } from "./presets/presets.ts";
import type { ShownRow, SourceRow } from "./records.ts";
import type { SourceRecord } from "./schema.ts";
import type { SourceSettings } from "./settings.ts";

export function sourceOfRow(row: SourceRow): StimulusSource {
  return {
    id: row.id,
    tenant: row.tenant,
    source: row.source,
    workflow: row.workflow,
    workflowVersion: row.workflow_version,
    enabled: row.enabled,
    preset: row.preset,
    toleranceSeconds: row.tolerance_seconds,
    replayGuard: row.replay_guard,
    requireTimestamp: row.require_timestamp,
    acknowledge: row.acknowledge,
    idempotencyFallback: row.idempotency_fallback,
    events: row.events,
    match: row.match,
    forwardHeaders: row.forward_headers,
    ratePerMinute: row.rate_per_minute,
    creator: row.creator,
  };
}

export function settingsOf(row: SourceRow): SourceSettings {
  const { id: _, tenant: __, creator: ___, ...settings } = sourceOfRow(row);
  return { ...settings, description: row.description };
}

/**
 * Whether equal signed bytes of a source are a repeat: as it says, else as its preset has it, and always where a time is signed.
 * @param timed whether the delivery's signature covers a time
 */
export const guardsReplays = (
  { replayGuard, preset }: Pick<StimulusSource, "replayGuard" | "preset">,
  timed: boolean,
) => replayGuard ?? (presets[preset].guardsReplays || timed);

/** What the wire says of a source's settings; nothing secret is among them. */
export function shownSettings(settings: SourceSettings) {
  return {
    source: settings.source,
    workflow: settings.workflow,
    workflow_version: settings.workflowVersion,
    enabled: settings.enabled,
    signature: { preset: settings.preset, tolerance_seconds: settings.toleranceSeconds },
    replay_guard: guardsReplays(settings, settings.requireTimestamp),
    require_timestamp: settings.requireTimestamp,
    acknowledge: settings.acknowledge,
    idempotency_fallback: settings.idempotencyFallback,
    events: [...settings.events],
    match: settings.match,
    forward_headers: [...settings.forwardHeaders],
    rate_limit_per_minute: settings.ratePerMinute,
    description: settings.description,
  };
}

/** What of a record no row tells. */
export interface RecordContext {
  /** Where clients reach the service, without a slash at the end. */
  readonly publicUrl: string;
  /** Where the secret of a tenant's source comes from when none is stored. */
  readonly environmentOrigin: (tenant: string, row: SourceRow) => "env_tenant" | "env" | null;
  /** Unix milliseconds. */
  readonly now: number;
}

export function sourceRecord(row: ShownRow, { publicUrl, environmentOrigin, now }: RecordContext): SourceRecord {
  const origin = environmentOrigin(row.tenant, row);
  const expires = row.previous_secret === null ? null : row.previous_expires_at;
  return {
    id: row.id,
    tenant_id: row.tenant,
    ...shownSettings(settingsOf(row)),
    // Applies to the one request that carried it.
    generate_secret: false,
    url: `${publicUrl}/v1/webhooks/${encodeURIComponent(row.source)}/${row.id}`,
    bare_url: row.is_among_oldest || (row.secret === null && origin !== null),
    secret_source: row.secret === null ? (origin ?? "none") : "stored",
    previous_secret_expires_at: expires === null || expires.getTime() <= now ? null : expires.toISOString(),
    last_received_at: row.last_received_at?.toISOString() ?? null,
    ignored_count: Number(row.ignored_count),
    last_ignored:
      row.last_ignored_at === null
        ? null
        : {
            at: row.last_ignored_at.toISOString(),
            reason: row.last_ignored_reason ?? "",
            event: row.last_ignored_event,
          },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    created_by: row.created_by,
  };
}
