/** Words of the fleet as people read them, and texts with several values in them. */

/** The parts of `a, b c`. */
export const partsOf = (text: string): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== "");

/** Why a host takes no commands. */
export const holds: Readonly<Record<string, string>> = {
  daemon: "its daemon takes no commands now (it drains, or cannot write its journal)",
  held: "held back by a person",
  cloned: "two daemons use copies of its key",
  outdated: "its daemon is older than the service asks for",
};

/** Why a host is left out of a run. */
export const skips: Readonly<Record<string, string>> = {
  Disconnected: "not connected",
  Unhealthy: "silent for a while",
  NotAccepting: "takes no commands",
  NotApproved: "came into the target after it was approved",
};

/** Why a run waits or ended. */
export const reasons: Readonly<Record<string, string>> = {
  cancelled: "It was cancelled.",
  approval_rejected: "Its approval was rejected.",
  approval_timed_out: "It was not approved in time.",
  no_targets: "No host of its target could be reached.",
  min_targets_unmet: "Fewer hosts than it asks for could be reached.",
  failure_threshold: "More hosts failed than it allows.",
  canary_failed: "The first hosts failed.",
  run_deadline: "It took longer than it may.",
  requested: "A person paused it.",
  canary_done: "The first hosts are done, and it waits until a person lets it go on.",
  dispatch_disabled: "Commands to hosts are switched off in the settings of the fleet.",
  tenant_suspended: "The organization is suspended.",
};

/** By which way a run was asked for. */
export const entryWords: Readonly<Record<string, string>> = {
  seal: "a SEAL session",
  dispatch: "an agent's tool call",
  mcp: "an MCP client",
  workflow: "a workflow",
};

const plural = new Intl.PluralRules("en");
/** @returns `1 host`, `1,200 hosts` */
export const counted = (count: number, word: string): string =>
  `${count.toLocaleString("en")} ${plural.select(count) === "one" ? word : `${word}s`}`;
