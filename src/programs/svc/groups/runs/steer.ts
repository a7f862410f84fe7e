/** `runs signal`, `pause`, `resume`, `cancel`, `delete`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { confirm } from "../../frame/context.ts";
import { jsonOrText, textOrFile } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { aboutRun, runId } from "./find.ts";

export function addSteer(runs: Command): void {
  addVerb(runs, {
    words: "signal <run> <signal>",
    summary: "Send a signal to a run: a Wait state takes it, or an open approval is answered by it",
    about: { ...aboutRun, signal: "its name, as the Wait state has it" },
    more: "A Wait state for that signal takes it. Where none waits and the run has an open approval, the signal decides that: by the name approved or rejected, by a payload of yes or no, else as a response. What it answered is told. One that the run does not wait for yet is kept for it.",
    options: { "--payload <value>": "JSON or text; @FILE reads a file" },
    examples: [['svc runs signal last delivered --payload \'{"at":"09:30"}\'', "Tell a run what it waits for"]],
    async run({ out, client, io }, [word, signal], { payload }) {
      const service = await client();
      const path = { id: await runId(service, word) };
      const content = payload === undefined ? {} : { payload: jsonOrText(await textOrFile(io, payload)) };
      const body = { signal_name: signal, ...content };
      const params = { path, header: once() };
      const sent = await answer(service.POST("/v1/workflows/executions/{id}/signal", { params, body }));
      await out.data(sent);
      const how = sent.status === "buffered" ? "is kept until the run waits for it" : "was sent";
      out.line(say`${out.colours.green("✓")} ${signal} ${how}`);
      const { approval_id } = sent;
      if (approval_id !== undefined)
        out.line(say`It answered approval ${approval_id}; \`svc approvals show ${approval_id}\` tells how.`);
    },
  });
  addVerb(runs, {
    words: "pause <run>",
    summary: "Enter no further state of a run",
    about: aboutRun,
    more: "What is under way ends and is kept.",
    examples: [["svc runs pause last", "Hold it"]],
    async run({ out, client }, [word]) {
      const service = await client();
      const path = { id: await runId(service, word) };
      await out.data(await answer(service.POST("/v1/workflows/executions/{id}/pause", { params: { path } })));
      out.line(say`${out.colours.green("✓")} Paused ${path.id}`);
    },
  });
  addVerb(runs, {
    words: "resume <run>",
    summary: "Let a paused run go on",
    about: aboutRun,
    examples: [["svc runs resume last", "Let it go on"]],
    async run({ out, client }, [word]) {
      const service = await client();
      const path = { id: await runId(service, word) };
      await out.data(await answer(service.POST("/v1/workflows/executions/{id}/resume", { params: { path } })));
      out.line(say`${out.colours.green("✓")} Resumed ${path.id}`);
    },
  });
  addVerb(runs, {
    words: "cancel <run...>",
    summary: "End runs",
    about: aboutRun,
    options: {
      "--compensate": "undo what was done, by the states that undo it",
      "--reason <text>": "why, for the record",
    },
    examples: [["svc runs cancel last --compensate", "End it and undo what it did"]],
    async run({ out, client }, [words], { compensate, reason }) {
      const service = await client();
      for (const word of words) {
        const path = { id: await runId(service, word) };
        const body = given({ compensate, reason });
        const cancelled = await answer(
          service.POST("/v1/workflows/executions/{id}/cancel", { params: { path }, body }),
        );
        await out.event(cancelled);
        out.line(say`${out.colours.green("✓")} Cancelling ${path.id}`);
      }
    },
  });
  addVerb(runs, {
    words: "delete <run...>",
    alias: "rm",
    summary: "Delete the records of runs that are over",
    about: aboutRun,
    examples: [["svc runs delete 0190a1b2-… --yes", "Delete one without being asked"]],
    async run(context, [words]) {
      const service = await context.client();
      const ids = await Promise.all(words.map((word) => runId(service, word)));
      await confirm(context, ids.length === 1 ? `Delete run ${ids[0]}` : `Delete ${ids.length} runs`);
      for (const id of ids) {
        const deleted = await answer(service.DELETE("/v1/workflows/executions/{id}", { params: { path: { id } } }));
        await context.out.event(deleted);
        context.out.line(say`${context.out.colours.green("✓")} Deleted ${id}`);
      }
    },
  });
}
