/** `workflows schedules`: when a workflow starts by itself. */
import type { Command } from "commander";
import { answer, type Client, type Schemas } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { type Context, confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { isUuid } from "../../frame/names.ts";
import { instant } from "../../frame/values.ts";
import { addGroup, addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { Failure, usageFailure } from "../../process/exit.ts";

type Schedule = Schemas["WorkflowSchedule"];

const about = { workflow: "name or id", schedule: "name or id, as `schedules list` shows them" };
const overlaps = ["skip", "queue", "allow", "cancel_previous"] as const;

export function addSchedules(workflows: Command): void {
  const schedules = addGroup(workflows, "schedules", "See and steer when a workflow starts by itself");
  addList(schedules, {
    words: "list <workflow>",
    alias: "ls",
    summary: "List the schedules of a workflow",
    about,
    page: async ({ client }, _query, _options, [ref]) => schedulesOf(await client(), ref),
    columns: [
      { name: "name", value: ({ name }) => name },
      {
        name: "when",
        value: ({ cron, every, timezone }) => (cron === null ? `every ${every} s` : `${cron} (${timezone})`),
      },
      { name: "paused", value: ({ paused }) => paused },
      { name: "next", value: ({ next_times }) => next_times[0], kind: "time" },
      { name: "last", value: ({ last_started_at }) => last_started_at, kind: "time" },
      { name: "overlap", value: ({ overlap }) => overlap },
      { name: "skipped", value: ({ skipped }) => skipped },
      { name: "id", value: ({ id }) => id },
    ],
    usual: 6,
    empty: "The workflow has no schedules; its manifest names them in spec.schedules.",
    examples: [["svc workflows schedules list nightly-report", "When it starts next"]],
  });
  addVerb(schedules, {
    words: "pause <workflow> <schedule>",
    summary: "Start nothing by a schedule until it is resumed",
    about,
    examples: [["svc workflows schedules pause nightly-report nightly", "Stop it for now"]],
    async run(context, [ref, name]) {
      const { service, path } = await found(context, ref, name);
      const kept = await answer(service.POST("/v1/workflows/{ref}/schedules/{id}/pause", { params: { path } }));
      await told(context, kept, "is paused");
    },
  });
  addVerb(schedules, {
    words: "resume <workflow> <schedule>",
    summary: "Let a schedule start runs again",
    about,
    examples: [["svc workflows schedules resume nightly-report nightly", "Let it go on"]],
    async run(context, [ref, name]) {
      const { service, path } = await found(context, ref, name);
      const kept = await answer(service.POST("/v1/workflows/{ref}/schedules/{id}/resume", { params: { path } }));
      await told(context, kept, "is active");
    },
  });
  addVerb(schedules, {
    words: "run <workflow> <schedule>",
    summary: "Start a run by a schedule now",
    about,
    examples: [["svc workflows schedules run nightly-report nightly", "Do not wait for the night"]],
    async run(context, [ref, name]) {
      const { service, path } = await found(context, ref, name);
      const params = { path, header: once() };
      const started = await answer(service.POST("/v1/workflows/{ref}/schedules/{id}/run", { params }));
      await context.out.data(started);
      context.out.line(say`${started.execution_id}`);
      context.out.note(say`Follow it with: svc runs watch ${started.execution_id}`);
    },
  });
  addBackfill(schedules);
}

function addBackfill(schedules: Command): void {
  addVerb(schedules, {
    words: "backfill <workflow> <schedule>",
    summary: "Start the runs that a time in the past would have had",
    about,
    options: {
      "--from <time>": "its beginning, as 2026-01-31T00:00:00Z, or how long ago as 7d",
      "--to <time>": "its end; now without it",
      "--overlap <rule>": { meaning: "what to do while the run before goes on", choices: overlaps },
    },
    examples: [["svc workflows schedules backfill nightly-report nightly --from 7d", "Make up for the last week"]],
    async run(context, [ref, name], { from, to, overlap }) {
      const { io, out } = context;
      if (from === undefined) throw usageFailure("--from says where to begin");
      const { service, path } = await found(context, ref, name);
      const begin = instant("--from", from, io.now()) ?? "";
      const end = instant("--to", to, io.now()) ?? new Date(io.now()).toISOString();
      await confirm(context, `Start the runs of ${name} from ${begin} to ${end}`);
      const body = { from: begin, to: end, ...given({ overlap: overlaps.find((one) => one === overlap) }) };
      const params = { path, header: once() };
      const done = await answer(service.POST("/v1/workflows/{ref}/schedules/{id}/backfill", { params, body }));
      await out.data(done);
      out.line(say`${out.colours.green("✓")} ${done.started} started, ${done.skipped} skipped`);
    },
  });
}

const schedulesOf = (client: Client, ref: string) =>
  answer(client.GET("/v1/workflows/{ref}/schedules", { params: { path: { ref } } }));

/** @throws Failure `conflict` */
async function found(context: Context, ref: string, name: string) {
  const service = await context.client();
  if (isUuid(name)) return { service, path: { ref, id: name } };
  const schedule = (await schedulesOf(service, ref)).items.find((one) => one.name === name);
  if (schedule === undefined) throw new Failure("conflict", `${ref} has no schedule ${name}`);
  return { service, path: { ref, id: schedule.id } };
}

async function told({ out }: Context, schedule: Schedule, what: string): Promise<void> {
  await out.data(schedule);
  out.line(say`${out.colours.green("✓")} ${out.colours.bold(schedule.name)} ${what}`);
}
