/** `executions list`, `get`, `watch`, `logs`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { followed } from "../../frame/following.ts";
import { addList } from "../../frame/list.ts";
import { instant } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";
import { agentId } from "../agents/find.ts";
import { eventText, partsOf } from "./events.ts";
import { aboutExecution, executionId } from "./find.ts";
import { endOf, watchExecution } from "./watch.ts";

type Execution = Schemas["Execution"];

const took = ({ started_at, ended_at }: Execution): number | null =>
  ended_at === null ? null : Math.max(0, Date.parse(ended_at) - Date.parse(started_at));

const fields: readonly Field<Schemas["ExecutionRecord"]>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "agent", value: ({ agent_name, agent_version }) => `${agent_name} ${agent_version}` },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "error", value: ({ error, error_code }) => (error === null ? null : `${error} (${error_code})`) },
  {
    name: "waits for",
    value: ({ waiting_for }) =>
      waiting_for === null ? null : `approval ${waiting_for.approval_id} of ${waiting_for.tool}`,
  },
  { name: "attempt", value: ({ current_iteration, max_iterations }) => `${current_iteration} of ${max_iterations}` },
  { name: "started", value: ({ started_at }) => started_at, kind: "time" },
  { name: "ended", value: ({ ended_at }) => ended_at, kind: "time" },
  { name: "took", value: took, kind: "duration" },
  { name: "trigger", value: ({ trigger }) => trigger },
  { name: "started by", value: ({ starter }) => starter?.sub },
  {
    name: "tokens",
    value: ({ usage }) => `${usage.input_tokens} in, ${usage.output_tokens} out, ${usage.llm_calls} calls`,
  },
  { name: "tool calls", value: ({ usage }) => usage.tool_calls },
  { name: "sandbox", value: ({ runtime }) => runtime.sandbox },
  { name: "labels", value: ({ labels }) => Object.entries(labels).map(([name, value]) => `${name}=${value}`) },
  { name: "run", value: ({ workflow_execution_id }) => workflow_execution_id },
  { name: "parent", value: ({ hierarchy }) => hierarchy.parent_execution_id },
  { name: "retry of", value: ({ retry_of }) => retry_of },
  { name: "volumes", value: ({ volumes }) => volumes.map(({ name, mount_path }) => `${name} at ${mount_path}`) },
  { name: "warnings", value: ({ warnings }) => warnings.map(({ message }) => message) },
];

const filters = {
  "-a, --agent <agent>": "only of this agent, by name or id",
  "-s, --status <status>": {
    meaning: "only in this state",
    choices: ["pending", "running", "completed", "failed", "cancelled", "timed_out"],
  },
  "--since <time>": "started after this time, or within the last 15m, 24h, 7d",
  "--until <time>": "started before it",
  "--label <name=value...>": "only with these labels",
  "--run <run>": "only of this run of a workflow",
  "--parent <execution>": "only children of this execution",
} as const;

export function addShow(executions: Command): void {
  addList(executions, {
    words: "list",
    alias: "ls",
    summary: "List executions, newest first",
    options: filters,
    async page({ client, io }, query, { agent, status, since, until, label, run, parent }) {
      const service = await client();
      const chosen = given({
        agent_id: agent === undefined ? undefined : await agentId(service, agent),
        status,
        started_after: instant("--since", since, io.now()),
        started_before: instant("--until", until, io.now()),
        label: label === undefined ? undefined : [...label],
        workflow_execution_id: run,
        parent_execution_id: parent,
      });
      return answer(service.GET("/v1/executions", { params: { query: { ...query, ...chosen } } }));
    },
    columns: [
      { name: "id", value: ({ id }) => id },
      { name: "agent", value: ({ agent_name }) => agent_name },
      { name: "status", value: ({ status }) => status, kind: "status" },
      { name: "started", value: ({ started_at }) => started_at, kind: "time" },
      { name: "took", value: took, kind: "duration" },
      { name: "summary", value: ({ error, summary }) => error ?? summary },
      { name: "version", value: ({ agent_version }) => agent_version },
      { name: "trigger", value: ({ trigger }) => trigger },
      { name: "tokens", value: ({ usage }) => usage.input_tokens + usage.output_tokens },
    ],
    usual: 6,
    live: "execution",
    empty: "There are no such executions. `svc run AGENT` starts one.",
    examples: [
      ["svc executions list --status failed --since 24h", "What failed today"],
      ["svc executions list --agent hello --watch", "See those of one agent as they change"],
      ["svc executions list --json | jq -r '.[].id'", "Their ids, for a script"],
    ],
  });
  addGet(executions);
  addWatch(executions);
  addLogs(executions);
}

function addGet(executions: Command): void {
  addVerb(executions, {
    words: "get <execution>",
    alias: "show",
    summary: "Show an execution",
    about: aboutExecution,
    options: { "-o, --output": "print its output, and nothing else" },
    examples: [
      ["svc executions get last", "Show the newest one"],
      ["svc executions get last --output", "Its output alone"],
      ["svc executions get last --json", "Everything, with each iteration"],
    ],
    async run({ out, client }, [word], { output }) {
      const service = await client();
      const path = { id: await executionId(service, word) };
      const record = await answer(service.GET("/v1/executions/{id}", { params: { path } }));
      if (output === true) return out.content((record.output ?? "").replace(/\n?$/, "\n"));
      await out.data(record);
      out.record(fields, record);
      if (record.output !== null && record.output !== "") out.line(say`\n${lines(record.output)}`);
    },
  });
}

function addWatch(executions: Command): void {
  addVerb(executions, {
    words: "watch <execution>",
    summary: "Follow an execution to its end",
    about: aboutExecution,
    more: "Tells everything from its beginning, as `svc run` does, and ends with the same codes.",
    examples: [["svc executions watch last", "Follow the newest one"]],
    async run(context, [word]) {
      const service = await context.client();
      return watchExecution(context, service, await executionId(service, word));
    },
  });
}

function addLogs(executions: Command): void {
  addVerb(executions, {
    words: "logs <execution>",
    summary: "Print the events of an execution",
    about: aboutExecution,
    options: {
      "-f, --follow": "go on to its end",
      "-v, --verbose": "with prompts, answers and arguments; needs the scope execution:logs",
      "--events <names>": "only these events, separated by commas",
    },
    examples: [
      ["svc executions logs last --verbose", "With what was said to and by the model"],
      ["svc executions logs last --json | jq .console_output.content", "A line of JSON for each event"],
    ],
    async run(context, [word], { follow, verbose, events }) {
      const { out } = context;
      const service = await context.client();
      const id = await executionId(service, word);
      const { status } = await answer(service.GET("/v1/executions/{id}", { params: { path: { id } } }));
      const isOver = endOf(status) !== null;
      const query = new URLSearchParams(given({ events, verbose: verbose === true ? "true" : undefined }));
      // Without --follow the stream ends by itself behind what is known.
      if (follow !== true || isOver) query.set("follow", "false");
      const shown = async (data: unknown) => {
        const event = partsOf(data);
        if (event === null) return undefined;
        await out.event(data);
        const text = eventText(event, out.colours);
        if (text !== null) out.line(text);
        return endOf(event.name.replace(/^execution_/, "")) === null ? undefined : "over";
      };
      const path = `/v1/executions/${encodeURIComponent(id)}/stream?${query}`;
      if (follow === true && !isOver) {
        const detached = `Detached; \`svc executions logs ${id} --follow\` shows it again.`;
        await followed(context, service, { path, detached, told: ({ data }) => shown(data) });
      } else {
        const { eventsOf } = await import("../../frame/known-events.ts");
        for await (const { data } of eventsOf(service, path, context.io.interruption())) await shown(data);
      }
    },
  });
}
