/** The activity `workflow.scheduled_start`: a schedule starts a run of the latest version, as its deployer. */

import type { OutputOf } from "../../../../actors/kernel/activity.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { RunRequest } from "../../../../actors/workflow/run/start/request.ts";
import { scheduledStart } from "../../../../actors/workflow/schedule/messages.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { type Activity, implement } from "../../../runtime/port.ts";
import type { StartedRun } from "../runs/port.ts";
import type { ScheduleRecords, ScheduleRow } from "./records.ts";

type ScheduledEnd = OutputOf<typeof scheduledStart>;

export interface ScheduledStartOptions {
  readonly records: Pick<ScheduleRecords, "find">;
  readonly tenants: Pick<Tenants, "status">;
  /** The same id again is the same run. */
  readonly start: (executionId: string, fresh: boolean, request: RunRequest) => Promise<StartedRun>;
  /** The run of an id that an earlier attempt may have started; null: there is none. */
  readonly startedAs: (tenant: string, executionId: string) => Promise<StartedRun | null>;
  readonly count: (outcome: "started" | "refused") => void;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly warn: (event: string, facts: Record<string, unknown>) => void;
}

export function scheduledStartActivity(options: ScheduledStartOptions): Activity {
  const { records, tenants, now } = options;
  return implement(
    scheduledStart,
    {
      // One that is refused keeps its place while it waits; that costs next to nothing.
      concurrency: 1024,
      retry: { attempts: Number.MAX_SAFE_INTEGER, firstDelayMs: 1000 },
      atHand: true,
    },
    async ({ execution_id, start_by, again }, { actor, attempt, resumed }): Promise<ScheduledEnd> => {
      const isFirst = attempt === 1 && !resumed && again === undefined;
      const earlier = isFirst ? null : await options.startedAs(actor.tenant, execution_id);
      if (earlier !== null) return startedAt(earlier);
      if (again === "look") return { result: "refused", code: "process_died", busy: false };
      const status = await tenants.status(actor.tenant);
      if (status === "suspended" || status === "deleted") return { result: "held" };
      const row = await records.find(actor.tenant, actor.key);
      return row === null ? { result: "gone" } : start(row, execution_id, isFirst, start_by);
    },
  );

  async function start(row: ScheduleRow, id: string, isFirst: boolean, startBy: number): Promise<ScheduledEnd> {
    try {
      const started = await options.start(id, isFirst, requestOf(row));
      options.count("started");
      return startedAt(started);
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      if (error.status === 429 && now() < startBy) throw error;
      options.count("refused");
      return refused(row, error);
    }
  }

  function refused({ schedule_id, tenant, workflow_name: workflow, name }: ScheduleRow, error: Problem): ScheduledEnd {
    const { code, message: reason } = error;
    options.warn("workflow_schedule_refused", { schedule_id, tenant, workflow, schedule: name, code, reason });
    return { result: "refused", code, busy: error.status === 429 };
  }
}

const startedAt = ({ started_at }: StartedRun) => ({ result: "started", at: Date.parse(started_at) }) as const;

function requestOf({ schedule_id, tenant, workflow_id, schedule, deployer }: ScheduleRow): RunRequest {
  const starter = deployer?.starter ?? null;
  return {
    tenant,
    ref: workflow_id,
    version: null,
    input: schedule.input,
    blackboard: null,
    intent: "",
    attachments: [],
    timeoutSeconds: null,
    securityContext: null,
    // No caller is there: the tenant's own standing decides, and its rates count.
    starter: null,
    startedBy: starter,
    initiatedBy:
      starter === null
        ? { kind: "workflow", sub: schedule_id, email: null }
        : { kind: starter.kind, sub: starter.sub, email: deployer?.email ?? null, realm: starter.realm },
    parent: null,
    stimulusId: null,
    scheduleId: schedule_id,
    rateExempt: false,
  };
}
