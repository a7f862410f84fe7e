/** The part of the table of settings (`config.ts`) that is about what is run: agents, commands, workflows, approvals. */
import { anyText, flag, integer, json, optionalChoice, registries, text } from "./setting.ts";

export const executionSettings = {
  maxInstances: integer("SVC_MAX_INSTANCES", {
    meaning:
      "sandbox instances of a node at once, and a quarter more for each generation of children (three); more wait",
    unit: "instances",
    min: 1,
    max: 4096,
    default: 32,
  }),
  maxCommands: integer("SVC_MAX_COMMANDS", {
    meaning: "commands of workflows that a node runs at once; more wait",
    unit: "commands",
    min: 1,
    max: 4096,
    default: 32,
  }),
  maxClassifications: integer("SVC_MAX_CLASSIFICATIONS", {
    meaning: "stimuli that a node has router agents classify at once, a quarter of them of one tenant; more wait",
    unit: "stimuli",
    min: 1,
    max: 4096,
    default: 512,
  }),
  stimulusRoutesFile: text("SVC_STIMULUS_ROUTES_FILE", {
    meaning: "YAML file of source routes and routers that are made at the start where there are none yet",
    pattern: anyText.pattern,
    bounds: "a path",
    default: "",
  }),
  systemImage: text("SVC_SYSTEM_IMAGE", {
    meaning: "image of System states that name none, where they run in containers",
    pattern: /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$/,
    bounds: "an image reference",
    default: "docker.io/library/busybox:stable",
  }),
  containerRoot: flag("SVC_CONTAINER_ROOT", {
    meaning: "container states may run as root inside their container (`run_as_user: 0`)",
    default: false,
  }),
  rateLimits: flag("SVC_RATE_LIMITS", {
    meaning: "hold tenants and people to their rates of workflow starts; off only where something in front does",
    default: true,
  }),
  maxExecutionSeconds: integer("SVC_MAX_EXECUTION_SECONDS", {
    meaning: "longest an execution may take",
    unit: "s",
    min: 1,
    max: 604_800,
    default: 21_600,
  }),
  runtimeDefault: optionalChoice("SVC_RUNTIME_DEFAULT", {
    meaning: "isolation of agents that name none",
    of: ["process", "docker"],
    defaultText: "docker where a container engine answers, else process",
  }),
  runtimeRegistry: text("SVC_RUNTIME_REGISTRY", {
    meaning: "RuntimeRegistry document whose runtimes join the built-in ones or replace them",
    pattern: anyText.pattern,
    bounds: "a path",
    default: "",
  }),
  imageRegistries: registries("SVC_IMAGE_REGISTRIES", {
    meaning: "registries that images named by manifests may come from; docker.io is that of names without one",
  }),
  openEgress: flag("SVC_OPEN_EGRESS", {
    meaning: "manifests may open every public host at once, without an allowlist; egress.open in the file",
    default: true,
    filePath: ["egress", "open"],
  }),
  egressAllowPrivate: json("SVC_EGRESS_ALLOW_PRIVATE", {
    meaning: "addresses off the open internet that manifests may list; egress.allow_private in the file",
    shape: "array",
    defaultText: "none",
    filePath: ["egress", "allow_private"],
  }),
  dockerSocket: text("SVC_DOCKER_SOCKET", {
    meaning:
      "unix socket of the container engine, Docker's or Podman's; without an answer there is no docker isolation",
    pattern: anyText.pattern,
    bounds: "a path",
    default: "/var/run/docker.sock",
  }),
  warmPoolCap: integer("SVC_WARM_POOL_CAP", {
    meaning: "containers of a node that are kept ready at most; 0 keeps none",
    unit: "containers",
    min: 0,
    max: 1000,
    default: 20,
  }),
  executionRetentionDays: integer("SVC_EXECUTION_RETENTION_DAYS", {
    meaning: "how long records and events of an ended execution are kept",
    unit: "days",
    min: 1,
    max: 3650,
    default: 90,
  }),
  approvalRetentionDays: integer("SVC_APPROVAL_RETENTION_DAYS", {
    meaning: "how long the history of a decided approval is kept",
    unit: "days",
    min: 1,
    max: 3650,
    default: 400,
  }),
  stimulusRetentionDays: integer("SVC_STIMULUS_RETENTION_DAYS", {
    meaning: "how long stimuli that have ended are kept",
    unit: "days",
    min: 1,
    max: 400,
    default: 30,
  }),
  incidentRetentionDays: integer("SVC_INCIDENT_RETENTION_DAYS", {
    meaning: "how long security incidents are kept",
    unit: "days",
    min: 1,
    max: 3650,
    default: 90,
  }),
};
