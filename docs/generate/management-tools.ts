/** The tools that do what the API does, from what they say of themselves. */
import { mustBeWritten } from "../../actors/kernel/schema.ts";
import { fleetTools } from "../../src/features/edge/agent-calls/tools.ts";
import type { ManagementTool } from "../../src/features/management-tools/port.ts";
import { agentTools } from "../../src/features/operation-tools/agent-tools.ts";
import { catalogueTools } from "../../src/features/operation-tools/catalogue-tools.ts";
import { generateTool } from "../../src/features/operation-tools/generate-tool.ts";
import { systemTools } from "../../src/features/operation-tools/system-tools.ts";
import { taskTools } from "../../src/features/operation-tools/task-tools.ts";
import { swarmTools } from "../../src/features/swarms/tools.ts";
import { intentTools } from "../../src/features/workflows/runs/tools/intent-tools.ts";
import { workflowTools } from "../../src/features/workflows/runs/tools/tools.ts";
import { tableOf } from "./tables.ts";

export function managementToolsPage(): string {
  // Only what the tools say of themselves is asked; none of them is called.
  const none = {} as never;
  const all: readonly ManagementTool[] = [
    ...agentTools(none),
    generateTool(none),
    ...taskTools(none),
    ...workflowTools(none).tools,
    ...intentTools(none),
    ...swarmTools(none),
    ...fleetTools(none),
    ...catalogueTools(none),
    ...systemTools(none),
  ];
  const rows = all.map(({ name, aliases, description, scope, effect, arguments: schema }) => [
    [name, ...aliases].map((one) => `\`${one}\``).join(", "),
    description,
    scope === null ? "role admin or operator" : `\`${scope}\``,
    Object.keys(schema.properties)
      .map((member) => `\`${member}\`${mustBeWritten(schema, member) ? " *" : ""}`)
      .join(", "),
    effect,
  ]);
  return [
    "# Management tools",
    "",
    "What the API does, as tools of agents. Every name holds under `svc.` and under `aegis.` alike, in calls, manifests,",
    "patterns and deny lists; lists show `svc.…`, except `aegis.workflow.wait`. Each does what its operation does, with",
    "the same answer and `tool` beside it; a refusal becomes a failure with the same `code`.",
    "",
    "- **Starter.** Executions and runs keep who started them as `starter`: realm, kind, subject, role, membership, API key",
    "  and scopes. Of a schedule it is the deployer, of a webhook the creator of its source (sources of the configuration",
    "  file and secrets of the environment have none), of a child its parent's.",
    "- **Permission.** A tool acts for the starter with the scopes that were captured and are still held, at most 5 s old:",
    "  a member who becomes less, a key that ends and a person who is removed lose theirs while the run goes on. In a",
    "  session that a caller opened, the opener must hold them as well. Scopes that only a token claimed, beyond role and",
    "  membership, end with the request. Without starter there are no management tools: they are not listed, and calls",
    "  are refused with 2000 `tool_not_allowed`.",
    "- **Arguments.** `tenant_id` may only name the tenant of the call (`tenant_mismatch`); users, roles and scopes that",
    "  arguments name have no effect.",
    "- **Ceilings.** What a call starts or deploys carries `context_ceilings`: the context of the caller and the caller's",
    "  own ceilings, each name once, four at most (`too_many_ceilings`), and hands them on to what it starts. They bind",
    "  beside its own context as they are today. An agent or workflow keeps them, also when another call deploys it anew,",
    "  until a user does.",
    "- **Children.** What `task.execute` starts from an execution is its child: it ends with it, unless both are members",
    "  of a swarm, and nests at most 3 deep (`depth_exceeded`). An execution has at most 200 such children under way",
    "  (`too_many_children`).",
    "- **Crashes.** A call has one id over all attempts, and what it starts has an id made of it. `reads` and",
    "  `repeatable` calls are made again after a crash and start nothing twice; `once` is answered `interrupted`.",
    "- **Swarms.** The founder of a swarm, once it has started another execution, and its members hold resources alone and",
    "  send each other messages; others fail with `not_in_swarm`. A lock ends by unlock, by its time or with its holder; a",
    "  swarm has at most 1,000. A message of at most 16 KiB is received once, in the order of sending; at most 1,000 wait",
    "  for one receiver (`mailbox_full`). What it said is kept for an hour after it was received, that it was sent for a day.",
    "- **Written by models.** `agent.generate` has an agent of the service write a manifest, which is judged as a deployment",
    "  would be and goes back with its faults at most twice (`generation_failed`). It is deployed as a new agent, never over",
    "  one that is there, under the caller's ceilings; that needs `agent:deploy` too. `deploy=false` shows it only.",
    "  `execute.intent` starts a run that has a program written in `language` and runs it in a fresh sandbox without",
    "  network, `timeout_seconds` at most; the inputs, 96 KiB of JSON at most, are in `INTENT_INPUTS`. A program that ends",
    "  with a fault is mended at most twice. `pipeline_execution_id` is the run's: `execute.status` tells its stage, program",
    "  and result, `execute.wait` its end, `stream_url` its log as it is written. The agents' executions are the tenant's",
    "  own, in its history, quotas and usage; the agents themselves are shown nowhere.",
    "- **Waits** answer as soon as the end is committed, and look every `poll_interval_seconds` besides. One that waits for",
    "  itself or for what it is part of fails with `wait_on_ancestor`.",
    "",
    "Arguments with * are required.",
    "",
    ...tableOf(["Tool", "Does", "Needs", "Arguments", "Second attempt"], rows),
    "",
  ].join("\n");
}
