/** `runs list`, `get`, `watch`, `logs`, `graph`, `items`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { followed } from "../../frame/following.ts";
import { eventsOf } from "../../frame/known-events.ts";
import { addList } from "../../frame/list.ts";
import { instant, whole } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { duration } from "../../output/cells.ts";
import { painted } from "../../output/colours.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";
import { usageFailure } from "../../process/exit.ts";
import { aboutRun, runId } from "./find.ts";
import { endOfRun, isOver, outputText, runEventOf, runEventText, watchRun } from "./watch.ts";

type Run = Schemas["WorkflowRun"];

const waits = ({ waiting_for }: Pick<Run, "waiting_for">): string | null => {
  if (waiting_for === null) return null;
  const { kind, state_name, approval_id } = waiting_for;
  return `${kind} in ${state_name}${approval_id === undefined ? "" : `, approval ${approval_id}`}`;
};

const fields: readonly Field<Schemas["WorkflowRunRecord"]>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "workflow", value: ({ workflow_name, workflow_version }) => `${workflow_name} ${workflow_version}` },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "error", value: ({ error, error_code }) => (error === null ? null : `${error} (${error_code})`) },
  { name: "state", value: ({ current_state }) => current_state },
  { name: "waits for", value: waits },
  { name: "paused", value: ({ paused_at }) => paused_at, kind: "time" },
  { name: "started", value: ({ started_at }) => started_at, kind: "time" },
  { name: "ended", value: ({ ended_at }) => ended_at, kind: "time" },
  { name: "transitions", value: ({ transition_count }) => transition_count },
  { name: "compensation", value: ({ compensation }) => (compensation.status === "none" ? null : compensation.status) },
  { name: "started by", value: ({ initiated_by }) => initiated_by.email ?? initiated_by.sub },
  { name: "schedule", value: ({ schedule_id }) => schedule_id },
  { name: "stimulus", value: ({ stimulus_id }) => stimulus_id },
  { name: "parent", value: ({ parent_execution_id }) => parent_execution_id },
  { name: "retry of", value: ({ retry_of }) => retry_of },
  { name: "forked from", value: ({ forked_from }) => forked_from },
  { name: "continued as", value: ({ continued_as }) => continued_as },
  { name: "warnings", value: ({ warnings }) => warnings.map(({ message }) => message) },
];

export function addShow(runs: Command): void {
  addList(runs, {
    words: "list",
    alias: "ls",
    summary: "List runs, newest first",
    options: {
      "--workflow <name>": "only of this workflow",
      "-s, --status <status>": {
        meaning: "only in this state",
        choices: ["pending", "running", "completed", "failed", "cancelled", "timed_out"],
      },
      "--schedule <id>": "only those that a schedule started",
      "--parent <run>": "only children of this run",
      "--since <time>": "started after this time, or within the last 15m, 24h, 7d",
      "--until <time>": "started before this time",
    },
    async page({ client, io }, query, { workflow, status, schedule, parent, since, until }) {
      const filters = given({
        workflow_name: workflow,
        status,
        schedule_id: schedule,
        parent_execution_id: parent,
        started_after: instant("--since", since, io.now()),
        started_before: instant("--until", until, io.now()),
      });
      return answer((await client()).GET("/v1/workflows/executions", { params: { query: { ...query, ...filters } } }));
    },
    columns: [
      { name: "id", value: ({ id }) => id },
      { name: "workflow", value: ({ workflow_name }) => workflow_name },
      { name: "status", value: ({ status }) => status, kind: "status" },
      { name: "state", value: ({ current_state }) => current_state },
      { name: "waits for", value: waits },
      { name: "started", value: ({ started_at }) => started_at, kind: "time" },
      { name: "error", value: ({ error }) => error },
      { name: "version", value: ({ workflow_version }) => workflow_version },
      { name: "ended", value: ({ ended_at }) => ended_at, kind: "time" },
    ],
    usual: 7,
    live: "run",
    empty: "There are no such runs. `svc runs run WORKFLOW` starts one.",
    examples: [
      ["svc runs list --status running --watch", "See what runs now, as it changes"],
      ["svc runs list --workflow release --json", "Those of one workflow, for a script"],
    ],
  });
  addGet(runs);
  addVerb(runs, {
    words: "watch <run>",
    summary: "Follow a run to its end",
    about: aboutRun,
    examples: [["svc runs watch last", "Follow the newest one"]],
    async run(context, [word]) {
      const service = await context.client();
      return watchRun(context, service, await runId(service, word));
    },
  });
  addLogs(runs);
  addGraph(runs);
  addItems(runs);
}

function addGet(runs: Command): void {
  addVerb(runs, {
    words: "get <run>",
    alias: "show",
    summary: "Show a run",
    about: aboutRun,
    options: { "-o, --output": "print its output, and nothing else" },
    examples: [
      ["svc runs get last", "Show the newest one"],
      ["svc runs get last --json | jq .blackboard", "What its states wrote"],
    ],
    async run({ out, client }, [word], { output }) {
      const service = await client();
      const path = { id: await runId(service, word) };
      const run = await answer(service.GET("/v1/workflows/executions/{id}", { params: { path } }));
      if (output === true) return out.content(`${outputText(run.final_output ?? "")}\n`);
      await out.data(run);
      out.record(fields, run);
      if (out.format === "text" && run.final_output !== null) out.content(`\n${outputText(run.final_output)}\n`);
    },
  });
}

function addLogs(runs: Command): void {
  addVerb(runs, {
    words: "logs <run>",
    summary: "Print the events of a run",
    about: aboutRun,
    options: { "-f, --follow": "go on to its end" },
    examples: [["svc runs logs last --json", "A line of JSON for each event"]],
    async run(context, [word], { follow }) {
      const { out, io } = context;
      const service = await context.client();
      const id = await runId(service, word);
      const { status } = await answer(service.GET("/v1/workflows/executions/{id}", { params: { path: { id } } }));
      const shown = async (data: unknown) => {
        const event = runEventOf(data);
        if (event === null) return undefined;
        await out.event(data);
        out.line(runEventText(event, out.colours));
        return isOver(event.type) ? "over" : undefined;
      };
      const path = `/v1/workflows/executions/${encodeURIComponent(id)}/stream`;
      if (follow === true && endOfRun(status) === null) {
        const detached = `Detached; \`svc runs logs ${id} --follow\` shows it again.`;
        await followed(context, service, { path, detached, told: ({ data }) => shown(data) });
      } else
        for await (const { data } of eventsOf(service, `${path}?follow=false`, io.interruption())) await shown(data);
    },
  });
}

function addGraph(runs: Command): void {
  addVerb(runs, {
    words: "graph <run>",
    summary: "Show which states a run has been in, and how it came on",
    about: aboutRun,
    examples: [["svc runs graph last", "The steps of the newest one"]],
    async run({ out, client }, [word]) {
      const service = await client();
      const path = { id: await runId(service, word) };
      const graph = await answer(service.GET("/v1/workflows/executions/{id}/graph", { params: { path } }));
      await out.data(graph);
      const { bold, dim, cyan } = out.colours;
      for (const { state, status, condition, target, duration_ms, branch, compensates } of graph.steps) {
        const beside = [
          duration_ms === null ? null : duration(duration_ms),
          branch === null ? null : `branch ${branch}`,
          compensates === null ? null : `undoes ${compensates.state}`,
        ].filter((part) => part !== null);
        const way = target === null ? "" : ` ${condition ?? ""} → ${target}`;
        const mark = state === graph.current_state && graph.status === "running" ? cyan("▶") : " ";
        out.line(say`${mark} ${bold(state)}  ${painted(status, out.colours)}  ${dim(beside.join(", "))}${way}`);
      }
    },
  });
}

function addItems(runs: Command): void {
  addList(runs, {
    words: "items <run>",
    summary: "List the items of a Map, or act on one",
    about: aboutRun,
    options: {
      "--state <state>": "the Map; needed",
      "--status <status>": {
        meaning: "only in this state",
        choices: ["pending", "running", "completed", "failed", "cancelled"],
      },
      "--retry <index>": "begin this item again first",
      "--cancel <index>": "end this item first",
    },
    async page({ client }, query, { state, status, retry, cancel }, [word]) {
      if (state === undefined) throw usageFailure("--state names the Map whose items are meant");
      const service = await client();
      const id = await runId(service, word);
      const body = { state };
      const again = whole("--retry", retry, 0, 1_000_000);
      const ended = whole("--cancel", cancel, 0, 1_000_000);
      // The order stands before the first page alone.
      if (query.cursor === undefined && again !== undefined)
        await answer(
          service.POST("/v1/workflows/executions/{id}/items/{index}/retry", {
            params: { path: { id, index: again } },
            body,
          }),
        );
      if (query.cursor === undefined && ended !== undefined)
        await answer(
          service.POST("/v1/workflows/executions/{id}/items/{index}/cancel", {
            params: { path: { id, index: ended } },
            body,
          }),
        );
      const chosen = (["pending", "running", "completed", "failed", "cancelled"] as const).find(
        (one) => one === status,
      );
      const params = { path: { id }, query: { ...query, state, ...given({ status: chosen }) } };
      return answer(service.GET("/v1/workflows/executions/{id}/items", { params }));
    },
    columns: [
      { name: "index", value: ({ index }) => index },
      { name: "status", value: ({ status }) => status, kind: "status" },
      { name: "attempts", value: ({ attempts }) => attempts },
      { name: "run", value: ({ execution_id }) => execution_id },
      { name: "error", value: ({ error }) => error },
    ],
    empty: "There are no such items.",
    examples: [
      ["svc runs items last --state TRIAGE --status failed", "Which items failed"],
      ["svc runs items last --state TRIAGE --retry 3", "Begin one again"],
    ],
  });
}
