/**
 * From a state to the command that is run for it: everything rendered, nothing left to a shell but the author's own
 * text (docs/reference/workflows.md).
 */

import { isObject, type Json } from "../../../kernel/json.ts";
import { isReference } from "../../../manifest/references.ts";
import type { Command, ContainerRunState, Step, SystemState } from "../../definition/states.ts";
import type { CommandRun } from "../activities.ts";
import { mountsOf } from "../blackboard/mounts.ts";
import { StateFault } from "../kind.ts";
import { maxRenderedBytes, type RunTurn } from "../turn.ts";
import { scriptPlace } from "./argv.ts";
import { maxArgumentBytes, renderShell, requireArgument, requireVariable } from "./text.ts";

const maxEnvironmentBytes = 1_048_576;
const defaultTimeoutMs = 600_000;
/** A command may have run when its node is lost: only who declares `retry` has it run again. */
const once = { max_attempts: 1, backoff_ms: null };

interface Program {
  readonly argv: string[];
  /** What the script refers to. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The command of a System state.
 *
 * @throws StateFault `template_resolved_empty`, `template_value_invalid`, `unsafe_template_position`; TemplateError
 */
export function systemCommand(run: RunTurn, state: SystemState, instance_id: string): CommandRun {
  const program = programOf(run, state.command, false);
  const image = state.image === null ? null : imageOf(run, state.image);
  return {
    ...base(run, instance_id),
    kind: "system",
    argv: program.argv,
    ...environmentOf(run, state.env, program.env),
    workdir: workdirOf(run, state.workdir, true),
    image,
    image_pull_policy: "IfNotPresent",
    network: state.network_mode,
    resources: state.resources,
    timeout_ms: state.timeout_ms ?? defaultTimeoutMs,
    mounts: mountsOf(run.state.header.volumes),
    read_only_root: true,
    run_as_user: null,
    retry: once,
  };
}

/** The command of a ContainerRun state; throws as `systemCommand`. */
export function containerCommand(run: RunTurn, state: ContainerRunState, instance_id: string): CommandRun {
  return {
    ...containerOf(run, state, instance_id),
    image_pull_policy: state.image_pull_policy,
    timeout_ms: state.timeout_ms ?? defaultTimeoutMs,
    read_only_root: state.read_only_root_filesystem,
    run_as_user: state.run_as_user,
    retry: state.retry,
  };
}

/**
 * The command of one step of a ParallelContainerRun state; throws as `systemCommand`.
 *
 * @param stateTimeoutMs of the whole state: no step is given longer
 */
export function stepCommand(run: RunTurn, step: Step, stateTimeoutMs: number | null, instance_id: string): CommandRun {
  const limit = stateTimeoutMs ?? defaultTimeoutMs;
  return {
    ...containerOf(run, step, instance_id),
    image_pull_policy: "IfNotPresent",
    timeout_ms: Math.min(step.timeout_ms ?? limit, limit),
    read_only_root: false,
    run_as_user: null,
    retry: once,
  };
}

function containerOf(run: RunTurn, container: ContainerRunState | Step, instance_id: string) {
  const command: Command = container.shell
    ? { form: "text", text: container.command.join(" ") }
    : { form: "list", list: container.command };
  const program = programOf(run, command, true);
  return {
    ...base(run, instance_id),
    kind: "container" as const,
    argv: program.argv,
    ...environmentOf(run, container.env, program.env),
    workdir: workdirOf(run, container.workdir, false),
    image: imageOf(run, container.image),
    ...(container.registry_credentials === null ? {} : { registry_credentials: container.registry_credentials }),
    network: container.network_mode,
    resources: container.resources,
    mounts: mountsOf(run.state.header.volumes, container.volumes),
  };
}

function base(run: RunTurn, instance_id: string) {
  return { instance_id, workflow_name: run.state.header.workflow_name, state_name: run.current.name };
}

/** @param dropsBlanks whether blank elements of a list are left out */
function programOf(run: RunTurn, command: Command, dropsBlanks: boolean): Program {
  const program =
    command.form === "text" ? textProgram(run, command.text) : listProgram(run, command.list, dropsBlanks);
  for (const argument of program.argv) requireArgument("An argument of the command", argument);
  const bytes = program.argv.reduce((sum, argument) => sum + Buffer.byteLength(argument), 0);
  if (bytes > maxRenderedBytes) throw invalid(`The arguments of the command have more than ${maxRenderedBytes} bytes`);
  return program;
}

function textProgram(run: RunTurn, text: string): Program {
  const parts = run.renderParts(text);
  if (parts.every((part) => part.text.trim() === "")) throw empty("command");
  const { script, env } = renderShell(parts);
  return { argv: ["/bin/sh", "-c", script], env };
}

function listProgram(run: RunTurn, list: readonly string[], dropsBlanks: boolean): Program {
  const elements = list.map((element) => {
    const parts = run.renderParts(element);
    return {
      parts,
      text: parts.map(({ text }) => text).join(""),
      hasValues: parts.some(({ by }) => by === "value"),
    };
  });
  const kept = dropsBlanks ? elements.filter(({ text }) => text.trim() !== "") : elements;
  if ((kept[0]?.text ?? "").trim() === "") throw empty("command");
  const place = scriptPlace(kept);
  if ("unsafe" in place) throw new StateFault("unsafe_template_position", `A value stands ${place.unsafe}`);
  const argv = kept.map(({ text }) => text);
  const shell = place.index === null ? undefined : kept[place.index];
  if (place.index === null || shell === undefined) return { argv, env: {} };
  const { script, env } = renderShell(shell.parts);
  return { argv: argv.with(place.index, script), env };
}

function environmentOf(run: RunTurn, templates: Readonly<Record<string, string>>, values: Program["env"]) {
  // References are recognised in the manifest alone: what a template makes is plain text.
  const secrets = Object.keys(templates).filter((name) => isReference(templates[name] ?? "") && !(name in values));
  const rendered = Object.entries(templates).map(([name, template]) => {
    return [name, secrets.includes(name) ? template : run.render(template)] as const;
  });
  const env: Record<string, string> = { ...inputsOf(run), ...Object.fromEntries(rendered), ...values };
  env.SVC_WORKFLOW_EXECUTION_ID = run.runId;
  env.SVC_WORKFLOW_NAME = run.state.header.workflow_name;
  env.SVC_STATE_NAME = run.current.name;
  let bytes = 0;
  for (const [name, value] of Object.entries(env)) {
    requireVariable(name, value);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
  }
  if (bytes > maxEnvironmentBytes) throw invalid(`The environment has more than ${maxEnvironmentBytes} bytes`);
  return secrets.length === 0 ? { env } : { env, secrets };
}

/** The run's input for programs that want all of it. One that no variable can hold is left out: commands run without. */
function inputsOf(run: RunTurn): { INTENT_INPUTS?: string } {
  const { input = null, attachments = [] } = run.seen;
  const list: Json = Array.isArray(attachments) && attachments.length > 0 ? { attachments } : {};
  const text = JSON.stringify(isObject(input) ? { ...input, ...list } : { input, ...list });
  return Buffer.byteLength(text) + "INTENT_INPUTS=".length < maxArgumentBytes ? { INTENT_INPUTS: text } : {};
}

/** @param system whether it must lie where a System command may write */
function workdirOf(run: RunTurn, template: string, system: boolean): string {
  const workdir = run.render(template);
  requireArgument("workdir", workdir);
  if (!workdir.startsWith("/")) throw invalid("workdir must be an absolute path");
  if (workdir.split("/").includes("..")) throw invalid("workdir may not hold ..");
  if (system && !/^\/+(?:\.\/+)*(?:workspace|tmp)(?:\/|$)/.test(workdir)) {
    throw invalid("workdir must lie beneath /workspace or /tmp");
  }
  return workdir;
}

const maxImageCharacters = 512;

function imageOf(run: RunTurn, template: string): string {
  const image = run.render(template).trim();
  if (image === "") throw empty("image");
  if (image.length > maxImageCharacters || !/^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/.test(image)) {
    throw invalid("The image is no reference to one");
  }
  return image;
}

const empty = (what: string): StateFault =>
  new StateFault("template_resolved_empty", `The ${what} is empty once rendered`);
const invalid = (message: string): StateFault => new StateFault("template_value_invalid", message);
