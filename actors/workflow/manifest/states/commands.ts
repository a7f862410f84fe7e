/** The kinds of state that run commands: `System`, `ContainerRun`, `ParallelContainerRun`. */

import type { Fields } from "../../../manifest/fields.ts";
import { pullPolicy } from "../../../manifest/images/image.ts";
import { localImageFault } from "../../../manifest/images/local-images.ts";
import { registryCredentials } from "../../../manifest/images/registry-credentials.ts";
import { second } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { isReference } from "../../../manifest/references.ts";
import { choice, flag, integer, list } from "../../../manifest/shape.ts";
import type {
  Command,
  ContainerRunState,
  ParallelContainerRunState,
  Step,
  SystemState,
} from "../../definition/states.ts";
import { duration, filledTemplate, type Of, type Reading, timeout } from "../members.ts";
import { isLiteral } from "../templates.ts";
import { checkCommand, command, commandList } from "./command.ts";
import { outputHandler } from "./handler.ts";
import { containerResources, env, image, networkMode, systemResources, workdir } from "./sandbox.ts";
import { mounts } from "./volumes.ts";

const defaultTimeoutMs = 600 * second;

export const systemState = object({
  resources: systemResources,
  image,
  timeout,
  command: command.required(),
  env,
  // What of a System command's file system it may write to.
  workdir: workdir(["/workspace", "/tmp"]),
  network_mode: networkMode.or("none"),
})
  .strict("a System state")
  .build(({ resources, timeout, command, ...read }, fields, { offer, templates }: Reading): Of<SystemState> => {
    if (fields.has("image") && offer.defaultIsolation === "process") {
      fields.warn(
        "image",
        "image_ignored",
        "Commands of this node run on the host's programs; the image has no effect",
      );
    }
    if (command !== null) checkCommand(fields, templates, command);
    checkBuiltin(fields, command, read.env);
    return {
      kind: "System",
      ...read,
      timeout_ms: timeout ?? resources.timeout_ms ?? defaultTimeoutMs,
      command: command ?? { form: "text", text: "" },
      resources: resources.resources,
    };
  });

/** What starts no process has no use for a secret: its environment is written to the blackboard. */
function checkBuiltin(fields: Fields, command: Command | null, env: Readonly<Record<string, string>>): void {
  if (command?.form !== "text" || !["noop", "update_blackboard"].includes(command.text.trim())) return;
  for (const [name, value] of Object.entries(env)) {
    if (isReference(value)) fields.issue(`env.${name}`, "may not refer to a secret here", "unsupported_field");
  }
}

const container = {
  resources: containerResources,
  name: filledTemplate.check((name) => (name.length > 1024 ? "may have at most 1024 characters" : null)).or(""),
  image: image.required().or(""),
  registry_credentials: registryCredentials,
  shell: flag(),
  command: commandList.required(),
  env,
  workdir: workdir(null),
  volumes: mounts("container"),
  network_mode: networkMode.or("default"),
};

type Container = Pick<Step, "volumes" | "command">;

/** Checks the command of a container, which is one text for a shell where the container says so. */
function containerOf(
  {
    shell,
    command,
    volumes,
    image,
    registry_credentials,
  }: Pick<Step, "shell" | "image" | "registry_credentials"> & {
    readonly command: readonly string[] | null;
    readonly volumes: Step["volumes"] | null;
  },
  ...[fields, { templates }]: [Parameters<typeof checkCommand>[0], Reading]
): Container {
  const list = [...(command ?? [])];
  checkCommand(fields, templates, shell ? { form: "text", text: list.join(" ") } : { form: "list", list });
  if (registry_credentials !== null && !namesItsRegistry(image)) {
    fields.issue("image", "must name its registry without a template, for the credential is sent there");
  }
  return { command: list, volumes: volumes ?? [] };
}

/** Whether no value that a template stands for can change where a credential is sent. */
const namesItsRegistry = (image: string): boolean => isLiteral(image) || isLiteral(image.slice(0, image.indexOf("/")));

const retry = object({
  max_attempts: integer(0, 10).or(1),
  backoff: duration({ min: 0, max: 3600 * second, said: "0 s to 1 h" }),
})
  .strict("the retry of a container")
  .build(({ max_attempts, backoff }) => ({ max_attempts: Math.max(1, max_attempts), backoff_ms: backoff }));

export const containerRunState = object({
  ...container,
  timeout,
  image_pull_policy: pullPolicy,
  retry: retry.section(),
  read_only_root_filesystem: flag(),
  run_as_user: integer(0, 2_147_483_647).check((user, { offer }: Reading) =>
    user === 0 && !offer.rootAllowed ? "no container runs as root on this node" : null,
  ),
  output_handler: outputHandler,
})
  .strict("a ContainerRun state")
  .build(({ resources, timeout, ...read }, fields, reading: Reading): Of<ContainerRunState> => {
    const local = isLiteral(read.image)
      ? localImageFault(read.image, read.image_pull_policy, reading.offer.localImages)
      : null;
    if (local !== null) fields.issue("image_pull_policy", local.message, local.code);
    return {
      kind: "ContainerRun",
      ...read,
      ...containerOf(read, fields, reading),
      timeout_ms: timeout ?? resources.timeout_ms ?? defaultTimeoutMs,
      resources: resources.resources,
    };
  });

const step = object(container)
  .strict("a container step")
  .build(
    ({ resources, ...read }, fields, reading: Reading): Step => ({
      ...read,
      ...containerOf(read, fields, reading),
      timeout_ms: resources.timeout_ms ?? defaultTimeoutMs,
      resources: resources.resources,
    }),
  );

export const parallelContainersState = object({
  timeout,
  completion: choice("all_succeed", "any_succeed", "best_effort").required().or("all_succeed"),
  steps: list(step, 20, "must have a step", ({ name }, before, fields, position) => {
    if (isLiteral(name) && before.some((other) => other.name === name)) {
      fields.issue(`${position}.name`, "is the name of another step");
    }
  }).required(),
})
  .strict("a ParallelContainerRun state")
  .build(({ timeout, completion, steps }): Of<ParallelContainerRunState> => {
    // The state's own timeout is every step's; else it waits for the slowest.
    const timed = (steps ?? []).map((step) => ({ ...step, timeout_ms: timeout ?? step.timeout_ms }));
    const slowest = Math.max(second, ...timed.map(({ timeout_ms }) => timeout_ms ?? 0));
    return { kind: "ParallelContainerRun", timeout_ms: timeout ?? slowest, steps: timed, completion };
  });
