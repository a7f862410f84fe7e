/** `executions cancel`, `retry`, `delete`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { confirm } from "../../frame/context.ts";
import { jsonOrText, textOrFile } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { aboutExecution, executionId } from "./find.ts";
import { watchExecution } from "./watch.ts";

export function addChanges(executions: Command): void {
  addVerb(executions, {
    words: "cancel <execution...>",
    summary: "End executions",
    about: aboutExecution,
    options: { "--reason <text>": "why, for the record" },
    examples: [["svc executions cancel last --reason 'wrong input'", "End the newest one"]],
    async run(context, [words], { reason }) {
      const service = await context.client();
      const { out } = context;
      for (const word of words) {
        const path = { id: await executionId(service, word) };
        const body = given({ reason });
        const cancelled = await answer(service.POST("/v1/executions/{id}/cancel", { params: { path }, body }));
        await out.event(cancelled);
        out.line(say`${out.colours.green("✓")} Cancelled ${path.id}`);
      }
    },
  });
  addVerb(executions, {
    words: "retry <execution>",
    summary: "Start an execution again, and follow it",
    about: aboutExecution,
    more: "A new execution with the same input and the same version, unless others are given. Its record names the one that it repeats.",
    options: {
      "--input <input>": "another input: text or JSON; @FILE reads a file",
      "--version <version>": "another version of the agent",
      "-d, --detach": "do not follow it",
    },
    examples: [["svc executions retry last --version 1.1.0", "Try the same with another version"]],
    async run(context, [word], { input, version, detach }) {
      const service = await context.client();
      const { out, io } = context;
      const path = { id: await executionId(service, word) };
      const changed = input === undefined ? undefined : jsonOrText(await textOrFile(io, input));
      const body = { ...given({ version }), ...(input === undefined ? {} : { input: changed }) };
      const params = { path, header: once() };
      const started = await answer(service.POST("/v1/executions/{id}/retry", { params, body }));
      if (detach !== true) {
        out.note(say`${out.noteColours.dim(`execution ${started.id}`)}`);
        return watchExecution(context, service, started.id);
      }
      await out.data(started);
      out.line(say`${started.id}`);
      return "ok";
    },
  });
  addVerb(executions, {
    words: "delete <execution...>",
    alias: "rm",
    summary: "Delete the records of executions that are over",
    about: aboutExecution,
    examples: [["svc executions delete 0190a1b2-… --yes", "Delete one without being asked"]],
    async run(context, [words]) {
      const service = await context.client();
      const ids = await Promise.all(words.map((word) => executionId(service, word)));
      await confirm(context, ids.length === 1 ? `Delete execution ${ids[0]}` : `Delete ${ids.length} executions`);
      for (const id of ids) {
        const deleted = await answer(service.DELETE("/v1/executions/{id}", { params: { path: { id } } }));
        await context.out.event(deleted);
        context.out.line(say`${context.out.colours.green("✓")} Deleted ${id}`);
      }
    },
  });
}
