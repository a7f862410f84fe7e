/** `runs run`, which stands behind `workflows` as well. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { objectOf, seconds } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { watchRun } from "./watch.ts";

export function addRun(group: Command): void {
  addVerb(group, {
    words: "run <workflow>",
    summary: "Run a workflow and follow it",
    about: { workflow: "name or id" },
    more: "Progress goes to standard error and the run's output alone to standard output. Ctrl-C detaches: the run goes on. Ends with 0 when it completed, 1 when it failed, 7 when it was cancelled, 8 when its time was over.",
    options: {
      "-i, --input <name=value...>": "a member of the input; values are JSON or text, @FILE adds a file's members",
      "--blackboard <name=value...>": "a member of the blackboard that the run begins with",
      "--version <version>": "run this version instead of the newest one",
      "--timeout <time>": "as 90, 15m or 2h",
      "--security-context <name>": "bind it by this security context as well",
      "-d, --detach": "start it, print its id, and do not follow",
      "-q, --quiet": "print the output alone",
    },
    examples: [
      ["svc runs run release -i version=2.1 -i 'changes=[\"faster\"]'", "Run with two members of input"],
      ["svc runs run release -i @release.json --detach", "Input from a file; do not follow it"],
    ],
    async run(context, [ref], options) {
      const { io, out } = context;
      const service = await context.client();
      const blackboard =
        options.blackboard === undefined ? undefined : await objectOf(io, "--blackboard", options.blackboard);
      const body = {
        input: await objectOf(io, "--input", options.input),
        ...given({
          blackboard,
          timeout_seconds: seconds("--timeout", options.timeout),
          security_context_name: options.securityContext,
        }),
      };
      const params = { path: { ref }, query: given({ version: options.version }), header: once() };
      const started = await answer(service.POST("/v1/workflows/{ref}/run", { params, body }));
      if (options.detach === true) {
        await out.data(started);
        out.line(say`${started.id}`);
        out.note(say`Follow it with: svc runs watch ${started.id}`);
        return "ok";
      }
      if (options.quiet !== true) out.note(say`${out.noteColours.dim(`run ${started.id}`)}`);
      return watchRun(context, service, started.id, options.quiet);
    },
  });
}
