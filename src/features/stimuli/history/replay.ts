/**
 * Replays: a stored stimulus is taken in once more, as a new one. What became of it is noted on the original with the
 * settlement of the new one, whichever node that happens on. A replay that failed is part of its original: replaying it
 * replays that one.
 */

import type { Identity } from "../../../../actors/identity/identity.ts";
import { starterOf } from "../../../../actors/identity/starter.ts";
import { invalidAt, Problem, type ProblemCode } from "../../../../actors/kernel/problem.ts";
import { isStorable, unusableText } from "../../../../actors/manifest/storable.ts";
import type { FullStimulusRow } from "../../../../actors/stimulus/record.ts";
import { isFailed, type ReplayRefusal, replayRefusal } from "../../../../actors/stimulus/statuses.ts";
import { type Arrival, receiverOf } from "../../../../actors/stimulus/stimulus.ts";
import { asProblem, internalError } from "../../../http/problem.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Audit, AuditedBy } from "../../audit/port.ts";
import { type Intake, type IntakeAnswer, routedAnswer } from "../intake/port.ts";
import type { Sources } from "../sources/port.ts";
import type { HeldRow, HistoryRecords } from "./records.ts";
import type { BulkReplayed, ReplayBody } from "./schema.ts";

/** Who does something to a stimulus. */
export interface Actor {
  readonly tenant: string;
  readonly identity: Identity;
  readonly by: AuditedBy;
}

export interface ReplayOptions {
  readonly sql: Sql;
  readonly records: HistoryRecords;
  readonly audit: Audit;
  readonly sources: Pick<Sources, "sourceOf">;
  readonly intake: Intake;
  /** Told of an original whose replay is over. */
  readonly concluded: (tenant: string, id: string) => Promise<void>;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** A replay's answer, and what was replayed. */
export interface Replayed {
  readonly answer: IntakeAnswer;
  readonly replayOf: string;
}

export interface ReplayRequest {
  /** Null: the configuration of now decides. */
  readonly override: Arrival["override"];
  /** Also what was routed or discarded, and under a key that was used. */
  readonly force: boolean;
}

export type Replays = ReturnType<typeof createReplays>;

/** Seconds within which a request for replays is answered. */
export const replayTimeoutSeconds = 240;
/** A replay whose node is lost keeps others from replaying its original for so long, ms. */
const reservedMs = replayTimeoutSeconds * 1000;
/** Of a request for many: how many are under way at once, and when the last ones are begun, ms. */
const atOnce = 16;
const beginWithinMs = 60_000;

export function createReplays({ sql, records, audit, sources, intake, concluded, report, now }: ReplayOptions) {
  /** Holds a stimulus, or the original of a replay that failed. @throws Problem 404 */
  async function hold(tx: Transaction, tenant: string, id: string): Promise<HeldRow & { readonly id: string }> {
    const row = await records.hold(tx, tenant, id);
    if (row === null) throw stimulusNotFound();
    const original = isFailedReplay(row) ? await records.hold(tx, tenant, row.replay_of) : null;
    // An original that was erased by its age leaves the replay as the only trace.
    return original === null ? { ...row, id } : { ...original, id: row.replay_of ?? id };
  }

  /**
   * Judges and reserves the original, with an entry in the audit log: nothing is replayed without a caller on record.
   * @returns its id
   * @throws Problem 404, 409
   */
  async function admit(actor: Actor, asked: string, { override, force }: ReplayRequest): Promise<string> {
    const { tenant } = actor;
    return sql.begin(async (tx: Transaction) => {
      const { id, ...row } = await hold(tx, tenant, asked);
      const refusal = replayRefusal(replayable(row, now()), force);
      if (refusal !== null) throw refusedReplay(refusal, row);
      if (!force) await records.reserve(tx, tenant, id, new Date(now() + reservedMs));
      await audit.append(tx, actor.by, {
        tenant,
        action: "stimulus.replayed",
        target: { type: "stimulus", id },
        details: {
          source: row.source,
          status: row.status,
          force,
          workflow: override?.workflow ?? null,
          workflow_version: override?.version ?? null,
        },
      });
      return id;
    });
  }

  /** Should that fail, the reservation ends by itself. */
  const release = (tenant: string, id: string) =>
    records.release(tenant, id).catch((error: unknown) => {
      report("stimulus_release_failed", { tenant, stimulus_id: id, error: String(error) });
    });

  async function arrivalOf({ tenant, identity }: Actor, id: string, { override }: ReplayRequest): Promise<Arrival> {
    const stored = await records.stored(tenant, id);
    if (stored === null) throw stimulusNotFound();
    const registered = await sources.sourceOf(tenant, stored.source);
    return {
      ...stored,
      channel: "replay",
      // The caller who replays waits for the outcome, however deliveries of this source are acknowledged.
      acknowledge: "routed",
      sourceId: registered?.enabled ? registered.id : null,
      override,
      replayOf: id,
      receivedBy: receiverOf(identity),
      startedBy: starterOf(identity),
    };
  }

  /**
   * @param newId of the new stimulus; null: any
   * @throws Problem 404, 409 and what the intake answers with
   */
  async function replay(
    actor: Actor,
    asked: string,
    request: ReplayRequest,
    newId: string | null = null,
  ): Promise<Replayed> {
    const id = await admit(actor, asked, request);
    try {
      const answer = await intake(await arrivalOf(actor, id, request), { force: request.force, id: newId });
      const { stimulus_id, status } = answer.body;
      if (status === "classified") report("stimulus_replayed", { tenant: actor.tenant, stimulus_id, replay_of: id });
      return { answer, replayOf: id };
    } finally {
      if (!request.force) await release(actor.tenant, id);
      concluded(actor.tenant, id).catch((error: unknown) => {
        report("changes_not_told", { tenant: actor.tenant, stimulus_id: id, error: String(error) });
      });
    }
  }

  /** What became of a replay that was accepted under this id; null: none was. @throws Problem as the replay itself */
  async function replayedAs(tenant: string, stimulusId: string): Promise<Replayed | null> {
    const row = await records.find(tenant, stimulusId);
    return row === null ? null : { answer: earlierAnswer(row), replayOf: row.replay_of ?? stimulusId };
  }

  async function replayOne(actor: Actor, id: string): Promise<BulkReplayed["results"][number]> {
    try {
      const { answer } = await replay(actor, id, { override: null, force: false });
      const { body } = answer;
      return { id, stimulus_id: body.stimulus_id, workflow_execution_id: body.workflow_execution_id, code: null };
    } catch (error) {
      const problem = asProblem(error);
      if (problem === null)
        report("stimulus_replay_failed", { tenant: actor.tenant, stimulus_id: id, error: String(error) });
      const { code, extras } = problem ?? internalError();
      // A replay that came to nothing was stored all the same.
      const stimulus_id = typeof extras.stimulus_id === "string" ? extras.stimulus_id : null;
      return { id, stimulus_id, workflow_execution_id: null, code };
    }
  }

  return {
    /**
     * A request that may be a repeat of one that was cut off: what that one began is not done twice.
     * @param id the id of the new stimulus, a UUIDv7; `fresh`: no earlier request can have had it
     * @throws Problem 404, 409 and what the intake answers with
     */
    async replayAs(id: string, fresh: boolean, actor: Actor, asked: string, request: ReplayRequest): Promise<Replayed> {
      const earlier = fresh ? null : await replayedAs(actor.tenant, id);
      return earlier ?? replay(actor, asked, request, id);
    },

    /** Each by itself; one that is named twice is replayed once. Those that are not begun in time are `timed_out`. */
    async replayMany(actor: Actor, ids: readonly string[]): Promise<BulkReplayed> {
      const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
      const results: BulkReplayed["results"] = [];
      const until = now() + beginWithinMs;
      const waiting = wanted.entries();
      const work = async () => {
        for (const [place, id] of waiting) {
          const late = { id, stimulus_id: null, workflow_execution_id: null, code: "timed_out" };
          results[place] = now() < until ? await replayOne(actor, id) : late;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      const succeeded = results.filter(({ code }) => code === null).length;
      return { results, succeeded, failed: results.length - succeeded };
    },
  };
}

const replayable = (row: HeldRow, now: number) => ({
  status: row.status,
  replayed: row.replayed_by !== null,
  keyed: row.idempotency_key !== null,
  replaying: row.due_at.getTime() > now || row.is_replayed_now,
});

const isFailedReplay = (row: HeldRow): row is HeldRow & { readonly replay_of: string } =>
  row.replay_of !== null && isFailed(row.status);

/** The answer to a replay that ended, or goes on elsewhere. @throws Problem as that one */
function earlierAnswer(row: FullStimulusRow): IntakeAnswer {
  const { id, status, classification, run_id, taken_by, error_code, error_message, error_details } = row;
  if (status === "received") {
    const message = "The replay is stored and goes on";
    throw new Problem("stimulus_service_unavailable", message, { stimulus_id: id }, { "Retry-After": "5" });
  }
  if (status !== "classified") {
    const code = (error_code ?? "internal_error") as ProblemCode;
    throw new Problem(code, error_message ?? "The replay started nothing", { stimulus_id: id, ...error_details });
  }
  return routedAnswer({ id, runId: run_id, detail: classification, takenBy: taken_by });
}

/** @throws Problem 422 */
export function readReplay({ workflow, workflow_version, force = false }: ReplayBody): ReplayRequest {
  for (const [path, text] of Object.entries({ workflow, workflow_version })) {
    if (text !== undefined && !isStorable(text)) throw invalidAt("validation_failed", path, unusableText);
  }
  if (workflow === undefined) {
    if (workflow_version === undefined) return { override: null, force };
    throw invalidAt("validation_failed", "workflow", "is required where there is a workflow_version");
  }
  return { override: { workflow, version: workflow_version ?? null }, force };
}

export const stimulusNotFound = () => new Problem("stimulus_not_found", "There is no such stimulus");

const refusals: Readonly<Record<ReplayRefusal, string>> = {
  stimulus_in_progress: "This stimulus is still being routed",
  stimulus_already_routed: "This stimulus started a workflow already",
  stimulus_discarded: "This stimulus was discarded",
};

function refusedReplay(code: ReplayRefusal, { status, run_id, replayed_by }: HeldRow): Problem {
  if (code === "stimulus_in_progress") return new Problem(code, refusals[code], { status }, { "Retry-After": "5" });
  const workflow_execution_id = status === "classified" ? run_id : null;
  return new Problem(code, refusals[code], { status, workflow_execution_id, replayed_by });
}
