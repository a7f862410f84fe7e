/**
 * Keeps schedules in step with the latest versions of workflows: their rows in the transaction that changes a definition,
 * their actors behind it. What a crash leaves between the two is found by the sweep.
 */
import type { Schedule } from "../../../../actors/workflow/definition.ts";
import { workflowSchedule } from "../../../../actors/workflow/schedule/schedule.ts";
import { derivedUuid } from "../../../lib/digest.ts";
import { inPortions } from "../../../lib/portions.ts";
import { repeatedly, waitAtMost } from "../../../lib/timers.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Transaction } from "../../../store/postgres/pool.ts";
import type { ChangedName, WorkflowFollower } from "../definitions/port.ts";
import { tenantOf } from "../definitions/port.ts";
import type { ScheduleRecords, ScheduleRow } from "./records.ts";

export interface FollowingOptions {
  readonly records: ScheduleRecords;
  readonly runtime: Pick<Runtime, "of">;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly warn: (event: string, facts: Record<string, unknown>) => void;
  /** Between two looks at what is unsettled; 5 000 when absent. */
  readonly sweepMs?: number;
}

/** A change of a definition waits at most this long for its schedules, ms. */
const settleTimeoutMs = 2_000;
const settledAtOnce = 64;

export type Following = ReturnType<typeof following>;

export function following({ records, runtime, now, warn, sweepMs = 5_000 }: FollowingOptions) {
  const schedules = runtime.of(workflowSchedule);

  /** Tells the actor what its row says. Repeatable. @throws where it cannot be told now: the sweep does it */
  async function settle(row: ScheduleRow): Promise<void> {
    const { schedule, revision, paused, ended, created_at, changed_at } = row;
    const { name: _, input: __, ...terms } = schedule;
    await schedules.at(row.tenant, row.schedule_id).ask(
      "settle",
      {
        revision,
        terms: ended ? null : { ...terms, anchor: created_at.getTime() },
        paused,
        since: changed_at.getTime(),
      },
      { repeatable: true },
    );
    await records.settled(row);
  }

  async function reconcile(tx: Transaction, { owner, name, from }: ChangedName): Promise<void> {
    const latest = await records.latest(tx, { owner, name });
    const wanted = latest?.schedules ?? [];
    const known = new Map((await records.known(tx, { owner, name })).map((row) => [row.name, row]));
    const moved =
      from === undefined || wanted.length === 0
        ? []
        : (await records.known(tx, { owner: from, name })).filter(({ ended }) => !ended);
    const at = new Date(now());
    for (const [place, schedule] of wanted.entries()) {
      const before = known.get(schedule.name);
      known.delete(schedule.name);
      const row = {
        schedule_id: scheduleIdOf(owner, name, schedule.name),
        tenant: tenantOf(owner),
        owner,
        workflow_name: name,
        workflow_id: latest?.workflow_id ?? "",
        name: schedule.name,
        place,
        schedule,
        deployer: latest?.deployer ?? null,
        // A pause outlives new versions, and a move to another owner.
        paused: moved.find((one) => one.name === schedule.name)?.paused ?? false,
      };
      await records.put(tx, row, at, before === undefined || !sameTimes(before.schedule, schedule));
    }
    const gone = [...known.values()].filter(({ ended }) => !ended).map(({ schedule_id }) => schedule_id);
    if (gone.length > 0) await records.end(tx, gone);
  }

  const follower: WorkflowFollower = {
    changed: reconcile,
    async committed(change) {
      const settled = async () => {
        await Promise.all((await records.unsettledOf(change)).map(settle));
      };
      await waitAtMost(settleTimeoutMs, settled().catch(unsettled));
    },
  };

  const unsettled = (error: unknown) => warn("workflow_schedules_unsettled", { error: String(error) });

  return {
    follower,
    settle,

    /** Settles what was left unsettled, now and then; each node what lives in its partitions. @returns ends it */
    sweep(): () => Promise<void> {
      let isStopping = false;
      const round = async () => {
        await inPortions<ScheduleRow>(
          {
            find: (after, limit) => records.unsettled(after?.schedule_id ?? null, limit),
            isMine: ({ schedule_id }) => schedules.isHere(schedule_id),
            work: settle,
            atOnce: settledAtOnce,
          },
          () => isStopping,
        );
      };
      const stop = repeatedly(sweepMs, round, unsettled);
      return () => {
        isStopping = true;
        return stop();
      };
    },
  };
}

/** The same for as long as the names are. */
const scheduleIdOf = (owner: string, workflow: string, name: string): string =>
  derivedUuid(`workflow schedule ${owner} ${workflow} ${name}`);

const sameTimes = (one: Schedule, other: Schedule): boolean =>
  one.timezone === other.timezone &&
  ("cron" in one.when && "cron" in other.when
    ? one.when.cron === other.when.cron
    : "every_ms" in one.when && "every_ms" in other.when && one.when.every_ms === other.when.every_ms);
