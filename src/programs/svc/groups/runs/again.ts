/** `runs retry`, `fork`, `migrate`: runs that begin where others were. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { confirm } from "../../frame/context.ts";
import { instant, objectOf, whole } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { usageFailure } from "../../process/exit.ts";
import { aboutRun, runId } from "./find.ts";
import { watchRun } from "./watch.ts";

export function addAgain(runs: Command): void {
  addVerb(runs, {
    words: "retry <run>",
    summary: "Start a run again that has ended, and follow it",
    about: aboutRun,
    options: {
      "--from <state>": "begin at this state, with what the run knew there",
      "-d, --detach": "do not follow it",
    },
    examples: [["svc runs retry last --from PUBLISH", "Only what is left to do"]],
    async run(context, [word], { from, detach }) {
      const service = await context.client();
      const path = { id: await runId(service, word) };
      const params = { path, header: once() };
      const body = given({ from_state: from });
      const started = await answer(service.POST("/v1/workflows/executions/{id}/retry", { params, body }));
      if (detach !== true) {
        context.out.note(say`${context.out.noteColours.dim(`run ${started.id}`)}`);
        return watchRun(context, service, started.id);
      }
      await context.out.data(started);
      context.out.line(say`${started.id}`);
      return "ok";
    },
  });
  addVerb(runs, {
    words: "fork <run>",
    summary: "Start a new run at a visit of another one",
    about: aboutRun,
    more: "The other run may go on or have ended; nothing of it is changed.",
    options: {
      "--from <state>": "the state to begin at; needed",
      "--visit <n>": "which visit of it; the last one without it",
      "--patch <name=value...>":
        "a member of the blackboard that is changed; JSON or text, @FILE adds a file's members",
      "-d, --detach": "do not follow it",
    },
    examples: [["svc runs fork last --from CHARGE --patch amount=5", "What if it had been less?"]],
    async run(context, [word], { from, visit, patch, detach }) {
      if (from === undefined) throw usageFailure("--from names the state to begin at");
      const service = await context.client();
      const path = { id: await runId(service, word) };
      const blackboard_patch = patch === undefined ? undefined : await objectOf(context.io, "--patch", patch);
      const body = { from_state: from, ...given({ from_visit: whole("--visit", visit, 1, 100), blackboard_patch }) };
      const params = { path, header: once() };
      const started = await answer(service.POST("/v1/workflows/executions/{id}/fork", { params, body }));
      if (detach !== true) {
        context.out.note(say`${context.out.noteColours.dim(`run ${started.id}`)}`);
        return watchRun(context, service, started.id);
      }
      await context.out.data(started);
      context.out.line(say`${started.id}`);
      return "ok";
    },
  });
  addMigrate(runs);
}

function addMigrate(runs: Command): void {
  addVerb(runs, {
    words: "migrate <workflow>",
    summary: "Let runs that wait go on in another version",
    about: { workflow: "name or id" },
    more: "Ends with 1 where the service refused one of them.",
    options: {
      "--to <version>": "the version; needed",
      "--state <state>": "only runs that are in this state",
      "--before <time>": "only runs that started before it, as a time or how long ago",
      "--run <id...>": "only these runs",
    },
    examples: [["svc runs migrate release --to 1.1.0 --state REVIEW", "Those that wait for a review"]],
    async run(context, [workflow], { to, state, before, run }) {
      if (to === undefined) throw usageFailure("--to names the version");
      const { out, io } = context;
      const filter = given({
        current_state: state,
        started_before: instant("--before", before, io.now()),
        execution_ids: run === undefined ? undefined : [...run],
      });
      await confirm(context, `Let runs of ${workflow} go on in version ${to}`);
      const body = { workflow, to_version: to, filter };
      const done = await answer((await context.client()).POST("/v1/workflows/executions/migrate", { body }));
      await out.data(done);
      for (const id of done.migrated) out.line(say`${out.colours.green("✓")} ${id} goes on in ${to}`);
      for (const { execution_id, message, code } of done.refused)
        out.note(say`${out.noteColours.red("✗")} ${execution_id}: ${message} (${code})`);
      out.line(say`${done.migrated.length} of ${done.matched} runs`);
      return done.refused.length === 0 ? "ok" : "failed";
    },
  });
}
