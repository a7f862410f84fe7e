/** `svc run`: an agent, or the manifest of one, to its end. */
import type { Command } from "commander";
import { answer, type Client } from "../../client/client.ts";
import { given, once } from "../frame/body.ts";
import type { Context } from "../frame/context.ts";
import { objectOf, seconds, textOf, textOrFile, texts, whole } from "../frame/values.ts";
import { addVerb } from "../frame/verb.ts";
import { say } from "../output/inert.ts";
import { tellWarnings } from "../output/warnings.ts";
import { usageFailure } from "../process/exit.ts";
import { deploy } from "./agents/deploying.ts";
import { agentId } from "./agents/find.ts";
import { watchExecution } from "./executions/watch.ts";

export function run(program: Command): void {
  addVerb(program, {
    words: "run <agent> [input]",
    summary: "Run an agent, or a manifest, and follow it",
    about: {
      agent: "name or id; or a manifest (FILE.yaml, FILE.json, - for standard input), which is deployed first",
      input: "text, or JSON that begins with { or [; @FILE reads a file, @- standard input",
    },
    more: "Progress goes to standard error and the agent's output alone to standard output. Ctrl-C detaches: the execution goes on. Ends with 0 when it completed, 1 when it failed, 7 when it was cancelled, 8 when its time was over.",
    options: {
      "-i, --input <name=value...>": "a member of the input; values are JSON or text, @FILE adds a file's members",
      "-d, --detach": "start it, print its id, and do not follow",
      "-q, --quiet": "print the output alone",
      "--version <version>": "run this version instead of the current one",
      "--label <name=value...>": "put labels on the execution",
      "--timeout <time>": "as 90, 15m or 2h",
      "--max-iterations <n>": "how many attempts it may take",
      "--security-context <name>": "bind it by this security context as well",
    },
    examples: [
      ['svc run hello "Ada"', "Run an agent and follow it"],
      ["svc run agents/hello.yaml", "Deploy this manifest if it changed, and run it"],
      ["svc run report -i quarter=3 -i rows=@rows.json > report.md", "Input by members; the output goes to a file"],
      ["svc run hello --detach --json", "Start it and print the record"],
    ],
    async run(context, [agent, input], options) {
      const { out } = context;
      const service = await context.client();
      const target = isManifest(agent)
        ? await deployed(context, service, agent, options.version)
        : { agent_id: await agentId(service, agent), ...given({ version: options.version }) };
      const body = {
        ...target,
        input: await inputOf(context, input, options.input),
        ...given({
          labels: options.label === undefined ? undefined : texts("--label", options.label),
          timeout_seconds: seconds("--timeout", options.timeout),
          max_iterations: whole("--max-iterations", options.maxIterations, 1, 20),
          security_context: options.securityContext,
        }),
      };
      const started = await answer(service.POST("/v1/executions", { params: { header: once() }, body }));
      if (options.detach === true) {
        await out.data(started);
        out.line(say`${started.id}`);
        out.note(say`Follow it with: svc executions watch ${started.id}`);
        return "ok";
      }
      if (options.quiet !== true) out.note(say`${out.noteColours.dim(`execution ${started.id}`)}`);
      return watchExecution(context, service, started.id, options.quiet);
    },
  });
}

/** Names of agents have neither dots nor slashes. */
const isManifest = (word: string): boolean => word === "-" || /[./]/.test(word);

async function deployed({ io, out }: Context, service: Client, file: string, version: string | undefined) {
  if (version !== undefined) throw usageFailure("--version does not go with a manifest, which has its own");
  const { change, agent } = await deploy(service, await textOf(io, file));
  if (change === "deployed") {
    tellWarnings(out, agent.warnings);
    const again = agent.revision > 1 ? ` (revision ${agent.revision})` : "";
    out.note(say`${out.noteColours.green("✓")} Deployed ${agent.name} ${agent.version}${again}`);
  }
  return { agent_id: agent.agent_id, version: agent.version };
}

/** @throws Failure `usage` for both forms at once */
async function inputOf(
  { io }: Context,
  text: string | undefined,
  members: readonly string[] | undefined,
): Promise<unknown> {
  if (members !== undefined) {
    if (text !== undefined) throw usageFailure("The input is given twice: as a word and by --input");
    return objectOf(io, "--input", members);
  }
  const whole = await textOrFile(io, text ?? "");
  if (!/^\s*[[{]/.test(whole)) return whole;
  try {
    return JSON.parse(whole);
  } catch {
    return whole;
  }
}
