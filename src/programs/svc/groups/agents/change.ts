/** `agents edit`, `rollback`, `pause`, `resume`, `archive`, `delete`. */
import type { Command } from "commander";
import { answer, type Client, type Schemas, yamlBody } from "../../../client/client.ts";
import { type Context, confirm } from "../../frame/context.ts";
import { edited } from "../../frame/editor.ts";
import { whole } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { tellFailure } from "../../output/failures.ts";
import { say } from "../../output/inert.ts";
import { tellWarnings } from "../../output/warnings.ts";
import { usageFailure } from "../../process/exit.ts";
import { agentId, findAgent } from "./find.ts";

const about = { agent: "name or id" };

export function addChanges(agents: Command): void {
  addEdit(agents);
  addVerb(agents, {
    words: "rollback <agent>",
    summary: "Make an earlier version the current one",
    about,
    options: {
      "--to <version>": "the version; the one before the current one without it",
      "--revision <n>": "this revision of the version",
    },
    examples: [
      ["svc agents rollback hello", "Back to the version before"],
      ["svc agents rollback hello --to 1.0.0", "Back to 1.0.0"],
    ],
    async run(context, [name], { to, revision }) {
      const service = await context.client();
      const path = { id: await agentId(service, name) };
      const number = whole("--revision", revision, 1, 1_000_000);
      const body = {
        ...(to === undefined ? {} : { version: to }),
        ...(number === undefined ? {} : { revision: number }),
      };
      const agent = await answer(service.POST("/v1/agents/{id}/rollback", { params: { path }, body }));
      await told(context, agent, `is at ${agent.version} again`);
    },
  });
  addVerb(agents, {
    words: "pause <agent>",
    summary: "Refuse new executions of an agent",
    about,
    more: "What runs already goes on. Schedules do not start it meanwhile.",
    examples: [["svc agents pause hello", "Start nothing new"]],
    async run(context, [name]) {
      const service = await context.client();
      const path = { id: await agentId(service, name) };
      await told(context, await answer(service.POST("/v1/agents/{id}/pause", { params: { path } })), "is paused");
    },
  });
  addVerb(agents, {
    words: "resume <agent>",
    summary: "Take new executions again, also of an archived agent",
    about,
    examples: [["svc agents resume hello", "Let it be started again"]],
    async run(context, [name]) {
      const service = await context.client();
      const path = { id: await agentId(service, name) };
      await told(context, await answer(service.POST("/v1/agents/{id}/resume", { params: { path } })), "is active");
    },
  });
  addVerb(agents, {
    words: "archive <agent>",
    summary: "Hide an agent from lists and refuse new executions",
    about,
    examples: [["svc agents archive hello", "Put it away; `svc agents resume hello` takes it back"]],
    async run(context, [name]) {
      const service = await context.client();
      const path = { id: await agentId(service, name) };
      // The document describes the body by its whole manifest; single fields are taken as well.
      const body = { status: "archived" } as unknown as Record<string, never>;
      const agent = await answer(service.PATCH("/v1/agents/{id}", { params: { path }, body }));
      if ("agent_id" in agent) await told(context, agent, "is archived");
    },
  });
  addDelete(agents);
}

async function told(
  { out }: Context,
  agent: Schemas["AgentDetail"] | Schemas["AgentPatched"],
  what: string,
): Promise<void> {
  await out.data(agent);
  out.line(say`${out.colours.green("✓")} ${out.colours.bold(agent.name)} ${what}`);
}

function addEdit(agents: Command): void {
  addVerb(agents, {
    words: "edit <agent>",
    summary: "Change an agent's manifest in your editor",
    about,
    more: "Opens $VISUAL or $EDITOR with the current manifest. What is saved is deployed; what the service refuses can be edited again, and is kept in the file that the message names otherwise.",
    examples: [["EDITOR='code --wait' svc agents edit hello", "Edit in another editor"]],
    async run(context, [name]) {
      const service = await context.client();
      const agent = await findAgent(service, name);
      let text: string | null = agent.manifest_yaml;
      while (text !== null) text = await editedOnce(context, service, agent, text);
    },
  });
}

/** @returns the text that shall be edited again; null: it is done */
async function editedOnce(
  context: Context,
  service: Client,
  agent: Schemas["AgentDetail"],
  text: string,
): Promise<string | null> {
  const { io, out } = context;
  const { text: changed, path, discard } = await edited(io, `${agent.name}.yaml`, text);
  if (changed === agent.manifest_yaml || changed.trim() === "") {
    await discard();
    out.note(say`Nothing was changed`);
    return null;
  }
  try {
    const params = { path: { id: agent.id } };
    const kept = await answer(service.PATCH("/v1/agents/{id}", { params, ...yamlBody(changed) }));
    await discard();
    await out.data(kept);
    tellWarnings(out, kept.warnings);
    const revision = "revision" in kept && kept.revision > 1 ? ` (revision ${kept.revision})` : "";
    out.line(say`${out.colours.green("✓")} Deployed ${out.colours.bold(kept.name)} ${kept.version}${revision}`);
    return null;
  } catch (error) {
    if (!io.isInteractive) throw error;
    tellFailure(error, out);
    const again = (await io.ask("Edit it again? [Y/n] "))?.trim() ?? "n";
    if (/^n/i.test(again)) throw usageFailure(`Nothing was changed; what you wrote is in ${path}`);
    await discard();
    return changed;
  }
}

function addDelete(agents: Command): void {
  addVerb(agents, {
    words: "delete <agent>",
    alias: "rm",
    summary: "Delete an agent with all its versions",
    about,
    more: "Records of its executions stay for as long as they are kept.",
    examples: [["svc agents delete hello --yes", "Delete it without being asked"]],
    async run(context, [name]) {
      const service = await context.client();
      const agent = await findAgent(service, name);
      await confirm(context, `Delete agent ${agent.name} with all its versions`);
      const deleted = await answer(service.DELETE("/v1/agents/{id}", { params: { path: { id: agent.id } } }));
      await context.out.data(deleted);
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${context.out.colours.bold(agent.name)}`);
    },
  });
}
