/** Words of stimuli and sources as people read them. */
import type { Choice } from "../../kit/controls/field.tsx";

export const statuses = [
  "received",
  "classified",
  "rejected",
  "classification_failed",
  "start_failed",
  "discarded",
] as const;
export const channels = ["webhook", "api", "replay"] as const;

/** How a workflow was chosen. */
export const routings: Readonly<Record<string, string>> = {
  deterministic: "its source names the workflow",
  llm_classified: "the router's agent chose it",
  override: "a person chose it at the replay",
};

/** What mends a delivery that came to nothing. */
export const remedies: Readonly<Record<string, string>> = {
  no_router_configured: "Give its source a workflow, or set up the router, and replay it.",
  classification_failed:
    "The router was not sure enough. Replay it with a workflow of your choice, or lower the router's threshold.",
  classification_parse_error: "The router's agent has to answer with a JSON object. Mend the agent and replay.",
  router_agent_failed: "Look at the router's execution, mend the agent and replay.",
  unknown_workflow: "The workflow is gone or not allowed. Register it, or name another, and replay.",
  workflow_error: "The workflow did not start. Mend its input schema or replay with edited content.",
  rate_limited: "More arrived than the limits allow. Replay it later.",
};

export type Preset = "svc" | "github" | "stripe" | "slack" | "standard_webhooks";

export const presetNames: Readonly<Record<Preset, string>> = {
  svc: "svc",
  github: "GitHub",
  stripe: "Stripe",
  slack: "Slack",
  standard_webhooks: "Standard Webhooks",
};

export const presetChoices: readonly Choice[] = [
  { value: "svc", label: "svc: HMAC over the body" },
  { value: "github", label: "GitHub" },
  { value: "standard_webhooks", label: "Standard Webhooks (Svix and others)" },
  { value: "stripe", label: "Stripe" },
  { value: "slack", label: "Slack" },
];

/** The header in which a preset's signature stands. */
export const presetHeaders: Readonly<Record<Preset, string>> = {
  svc: "X-Svc-Signature",
  github: "X-Hub-Signature-256",
  stripe: "Stripe-Signature",
  slack: "X-Slack-Signature",
  standard_webhooks: "webhook-signature",
};

export const secretSources: Readonly<Record<string, string>> = {
  stored: "stored here, encrypted",
  env_tenant: "the node's environment, for this organization",
  env: "the node's environment",
  none: "none: every delivery is refused",
};

/** @returns `2 KiB`, `340 bytes` */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

/** The parts of `a, b c`. */
export const partsOf = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== "");

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
