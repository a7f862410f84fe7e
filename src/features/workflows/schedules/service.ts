/** What callers can do with the schedules of workflows. */
import { isGlobalPublisher } from "../../../../actors/identity/identity.ts";
import { starterOf } from "../../../../actors/identity/starter.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { iso, readTime } from "../../../../actors/kernel/time.ts";
import { rateUserOf } from "../../../../actors/policy/rates/limits.ts";
import { initiatorOf, type RunRequest } from "../../../../actors/workflow/run/start/request.ts";
import { workflowSchedule } from "../../../../actors/workflow/schedule/schedule.ts";
import type { ScheduleState } from "../../../../actors/workflow/schedule/state.ts";
import { latestTimes, nextTimes, startOf } from "../../../../actors/workflow/schedule/times.ts";
import type { Call } from "../../../http/route.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import type { WorkflowChoice } from "../definitions/port.ts";
import type { Runs } from "../runs/feature.ts";
import type { Following } from "./following.ts";
import type { ScheduleRecords, ScheduleRow } from "./records.ts";
import type { BackfillBody, WorkflowSchedule } from "./schema.ts";

export interface ScheduleServiceOptions {
  readonly sql: Sql;
  readonly runtime: Pick<Runtime, "of">;
  readonly records: ScheduleRecords;
  readonly audit: Audit;
  /** The workflow that a name or UUID means to a tenant. */
  readonly findWorkflow: (
    tenant: string,
    ref: string,
  ) => Promise<Pick<WorkflowChoice, "workflow_id" | "owner" | "name"> | null>;
  readonly begin: Runs["beginAs"];
  readonly settle: Following["settle"];
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly warn: (event: string, facts: Record<string, unknown>) => void;
}

/** Next times that are shown. */
const shownTimes = 5;
const secondMs = 1000;

/** How a request names a schedule: by its workflow's name or UUID, and its own id. */
export interface Named {
  readonly ref: string;
  readonly id: string;
}

export type ScheduleService = ReturnType<typeof createScheduleService>;

export function createScheduleService(options: ScheduleServiceOptions) {
  const { sql, records, audit, now } = options;
  const schedules = options.runtime.of(workflowSchedule);

  /** @throws Problem 404 `workflow_not_found` */
  async function workflowOf(tenant: string, ref: string) {
    const found = await options.findWorkflow(tenant, ref);
    if (found === null) throw new Problem("workflow_not_found", "Workflow not found");
    return found;
  }

  /**
   * Those of a global workflow are its own tenant's: to others they are unknown.
   * @throws Problem 404 `workflow_not_found`, `schedule_not_found`
   */
  async function find(tenant: string, { ref, id }: Named): Promise<ScheduleRow> {
    const { owner, name } = await workflowOf(tenant, ref);
    const row = await records.find(tenant, id.toLowerCase());
    if (row === null || row.owner !== owner || row.workflow_name !== name) throw scheduleNotFound();
    return row;
  }

  async function shown(tenant: string, rows: readonly ScheduleRow[]): Promise<WorkflowSchedule[]> {
    const ids = rows.map(({ schedule_id }) => schedule_id);
    const states = await schedules.readMany(tenant, ids);
    return rows.map((row) => wire(row, states.get(row.schedule_id) ?? null, now()));
  }

  async function detail(tenant: string, named: Named): Promise<WorkflowSchedule> {
    const [one] = await shown(tenant, [await find(tenant, named)]);
    return one as WorkflowSchedule;
  }

  return {
    /** @throws Problem 404 `workflow_not_found` */
    async list(tenant: string, ref: string) {
      const items = await shown(tenant, await records.of(tenant, await workflowOf(tenant, ref)));
      return { items, schedules: items, count: items.length };
    },

    detail,

    /**
     * On record in the audit log. Repeatable.
     * @throws Problem 403 `global_scope_forbidden`, 404
     */
    async setPaused(call: Call, named: Named, paused: boolean): Promise<WorkflowSchedule> {
      const { tenant, identity } = call;
      const row = await find(tenant, named);
      if (row.owner !== tenant && !isGlobalPublisher(identity, tenant)) {
        throw new Problem("global_scope_forbidden", "Only global publishers change global workflows");
      }
      await sql.begin(async (tx) => {
        const held = await records.hold(tx, tenant, row.schedule_id);
        if (held === null) throw scheduleNotFound();
        if (held.paused === paused) return;
        await records.setPaused(tx, tenant, row.schedule_id, paused, new Date(now()));
        await audit.append(tx, auditedBy(call), {
          tenant,
          action: `workflow_schedule.${paused ? "paused" : "resumed"}`,
          target: { type: "workflow_schedule", id: row.schedule_id },
          details: { workflow_name: row.workflow_name, name: row.name },
        });
      });
      const changed = await records.find(tenant, row.schedule_id);
      if (changed === null) throw scheduleNotFound();
      await options.settle(changed);
      return detail(tenant, named);
    },

    /**
     * Starts a run now, for the caller. It waits for no other run, and none waits for it.
     * @param id of the run; the same again is the same run
     * @throws Problem as any start
     */
    async run(
      call: Call,
      named: Named,
      input: Json | undefined,
      id: string,
      fresh: boolean,
    ): ReturnType<Runs["beginAs"]> {
      const { tenant, identity } = call;
      const row = await find(tenant, named);
      const request: RunRequest = {
        tenant,
        ref: row.workflow_id,
        version: null,
        input: input ?? row.schedule.input,
        blackboard: null,
        intent: "",
        attachments: [],
        timeoutSeconds: null,
        securityContext: null,
        starter: identity,
        startedBy: starterOf(identity),
        countedFor: rateUserOf(identity),
        initiatedBy: initiatorOf(identity),
        parent: null,
        stimulusId: null,
        scheduleId: row.schedule_id,
        rateExempt: false,
      };
      const begun = await options.begin(id, fresh, request, () => call.signal);
      const told = { execution_id: id, at: Date.parse(begun.started.started_at) };
      // The run is there: what the schedule shows of it is no reason to fail.
      await schedules
        .at(tenant, row.schedule_id)
        .ask("started_by_hand", told, { repeatable: true })
        .catch((error: unknown) => options.warn("workflow_schedule_untold", { error: String(error) }));
      return begun;
    },

    /**
     * Starts runs for the times of a span, both ends included, as the deployer.
     * @param id of the request; the same again is the same backfill
     * @throws Problem 404, 422 `validation_failed`
     */
    async backfill(call: Call, named: Named, { from, to, overlap }: BackfillBody, id: string) {
      const { tenant } = call;
      const row = await find(tenant, named);
      const [begin, end] = [readTime("from", from).getTime(), readTime("to", to).getTime()];
      if (begin > end) throw invalidField("to", "must not be before from");
      if (end > now()) throw invalidField("to", "must not be in the future");
      const span = { id, from: begin, to: end, overlap: overlap ?? null };
      const reply = await schedules.at(tenant, row.schedule_id).ask("backfill", span, { repeatable: true });
      if (reply.outcome === "unknown") throw scheduleNotFound();
      if (reply.outcome === "too_many") throw invalidField("to", "there are more than 1,000 times since from");
      return { started: reply.started, skipped: reply.skipped };
    },
  };
}

function scheduleNotFound(): Problem {
  return new Problem("schedule_not_found", "The workflow has no such schedule");
}

/** @param state null: its actor has not heard of it yet */
function wire(row: ScheduleRow, state: ScheduleState | null, now: number): WorkflowSchedule {
  const { schedule, created_at, changed_at } = row;
  const { when, jitter_ms } = schedule;
  const timing = { when, timezone: schedule.timezone, anchor: created_at.getTime() };
  const decided = state?.decided ?? changed_at.getTime();
  // A time that has come may wait for its jitter still.
  const times = [...latestTimes(timing, decided, now, 1), ...nextTimes(timing, Math.max(decided, now), shownTimes)];
  const starts = row.paused ? [] : times.map((time) => startOf(row.schedule_id, jitter_ms, timing, time));
  return {
    id: row.schedule_id,
    workflow_id: row.workflow_id,
    workflow_name: row.workflow_name,
    name: row.name,
    cron: "cron" in when ? when.cron : null,
    every: "every_ms" in when ? when.every_ms / secondMs : null,
    timezone: schedule.timezone,
    jitter: jitter_ms / secondMs,
    input: schedule.input,
    overlap: schedule.overlap,
    catch_up: schedule.catch_up,
    catch_up_window: schedule.catch_up_window_ms / secondMs,
    paused: row.paused,
    next_times: starts
      .filter((start) => start > now)
      .slice(0, shownTimes)
      .map(iso),
    last_started_at: state?.last === null || state === null ? null : iso(state.last.at),
    last_execution_id: state?.last?.execution_id ?? null,
    skipped: state?.skipped ?? 0,
  };
}
