/** The kinds of state that run commands: `System`, `ContainerRun`, `ParallelContainerRun`. */
import type { Fields } from "../../../manifest/fields.ts";
import type { ContainerRunState, ParallelContainerRunState, Step, SystemState } from "../../definition.ts";
import { readTime, readTimeout, requireElements, second } from "../quantities.ts";
import type { Of, Reading } from "../reading.ts";
import { unsupported } from "../secrets.ts";
import { isLiteral } from "../templates.ts";
import { readArguments, readCommand } from "./command.ts";
import { readHandler } from "./handler.ts";
import {
  containerResources,
  readEnv,
  readImage,
  readNetworkMode,
  readResources,
  readWorkdir,
  systemResources,
} from "./sandbox.ts";
import { readMounts } from "./volumes.ts";

const defaultTimeoutMs = 600 * second;
const maxSteps = 20;
const pullPolicies = ["Always", "IfNotPresent", "Never"] as const;
/** What of a System command's file system it may write to. */
const systemPlaces = ["/workspace", "/tmp"];

export function readSystem(fields: Fields, reading: Reading): Of<SystemState> {
  const { resources, timeout_ms } = readResources(fields, systemResources);
  const image = readImage(fields, reading);
  if (fields.has("image") && reading.offer.defaultIsolation === "process") {
    fields.warn("image", "image_ignored", "Commands of this node run on the host's programs; the image has no effect");
  }
  return {
    kind: "System",
    timeout_ms: readTimeout(fields, "timeout") ?? timeout_ms ?? defaultTimeoutMs,
    command: readCommand(fields, reading),
    env: readEnv(fields, reading),
    workdir: readWorkdir(fields, reading, systemPlaces),
    image,
    network_mode: readNetworkMode(fields, reading, "none"),
    resources,
  };
}

type Container = Omit<Step, "timeout_ms">;

function readContainer(fields: Fields, reading: Reading, resources: Step["resources"]): Container {
  const { templates } = reading;
  const name = templates.required(fields, "name") ?? "";
  if (name.length > 1024) fields.issue("name", "may have at most 1024 characters");
  if (!fields.has("image")) fields.issue("image", "is required");
  // What is stored nowhere cannot be referred to.
  if (fields.has("registry_credentials")) unsupported(fields, "registry_credentials");
  const shell = fields.flag("shell");
  return {
    name,
    image: readImage(fields, reading) ?? "",
    command: readArguments(fields, reading, shell),
    env: readEnv(fields, reading),
    workdir: readWorkdir(fields, reading, null),
    volumes: readMounts(fields, reading, "container"),
    resources,
    registry_credentials: null,
    shell,
    network_mode: readNetworkMode(fields, reading, "default"),
  };
}

export function readContainerRun(fields: Fields, reading: Reading): Of<ContainerRunState> {
  const { resources, timeout_ms } = readResources(fields, containerResources);
  return {
    kind: "ContainerRun",
    timeout_ms: readTimeout(fields, "timeout") ?? timeout_ms ?? defaultTimeoutMs,
    ...readContainer(fields, reading, resources),
    image_pull_policy: fields.choice("image_pull_policy", pullPolicies) ?? "IfNotPresent",
    retry: readRetry(fields),
    read_only_root_filesystem: fields.flag("read_only_root_filesystem"),
    run_as_user: readUser(fields, reading),
    output_handler: readHandler(fields, reading),
  };
}

function readRetry(state: Fields): ContainerRunState["retry"] {
  const fields = state.section("retry");
  const attempts = fields.integer("max_attempts", { min: 0, max: 10 }) ?? 1;
  const backoff_ms = fields.measure("backoff", readTime, "duration", {
    min: 0,
    max: 3600 * second,
    said: "0 s to 1 h",
  });
  fields.closeStrictly("the retry of a container");
  return { max_attempts: Math.max(1, attempts), backoff_ms };
}

function readUser(fields: Fields, { offer }: Reading): number | null {
  const user = fields.integer("run_as_user", { min: 0, max: 2_147_483_647 });
  if (user === 0 && !offer.rootAllowed) fields.issue("run_as_user", "no container runs as root on this node");
  return user;
}

export function readParallelContainers(fields: Fields, reading: Reading): Of<ParallelContainerRunState> {
  const own = readTimeout(fields, "timeout");
  requireElements(fields, "steps", "must have a step");
  if (!fields.has("completion")) fields.issue("completion", "is required");
  const steps = readSteps(fields, reading, own);
  return {
    kind: "ParallelContainerRun",
    // The state's own timeout is every step's; else it waits for the slowest.
    timeout_ms: own ?? Math.max(second, ...steps.map(({ timeout_ms }) => timeout_ms ?? 0)),
    steps,
    completion: fields.choice("completion", ["all_succeed", "any_succeed", "best_effort"]) ?? "all_succeed",
  };
}

function readSteps(state: Fields, reading: Reading, own: number | null): Step[] {
  const names = new Set<string>();
  return state.sections("steps", maxSteps).map((fields) => {
    const { resources, timeout_ms } = readResources(fields, containerResources);
    const step = { ...readContainer(fields, reading, resources), timeout_ms: own ?? timeout_ms ?? defaultTimeoutMs };
    if (isLiteral(step.name) && names.has(step.name)) fields.issue("name", "is the name of another step");
    names.add(step.name);
    fields.closeStrictly("a container step");
    return step;
  });
}
