/** Where a workflow manifest holds text: there an unquoted scalar of YAML keeps what its author wrote. */
import type { TextPaths } from "../../manifest/text-paths.ts";

interface Paths {
  readonly [key: string]: Paths | "text" | "textOrTexts";
}
const text = "text";
const textOrTexts = "textOrTexts";
const texts: Paths = { "*": text };

const handler: Paths = {
  type: text,
  agent_id: text,
  input_template: text,
  url: text,
  method: text,
  headers: texts,
  body_template: text,
};
const judge: Paths = { agent_id: text, input_template: text };
const volumes: Paths = { "*": { name: text, mount_path: text } };
const notify: Paths = { "*": { type: text, url: text, secret: text, to: texts } };
const command: Paths = {
  name: text,
  image: text,
  command: textOrTexts,
  env: texts,
  workdir: text,
  network_mode: text,
  registry_credentials: text,
  volumes,
};

/** The fields of all kinds together: none is text in one and something else in another. */
const state: Paths = {
  ...command,
  kind: text,
  outcome: text,
  // `value` is a number for `exit_code` and text for `input_equals`; the former reads digits as well.
  transitions: { "*": { condition: text, target: text, feedback: text, value: text, expression: text } },
  agent: text,
  // A value that is text when it is no object or list.
  input: text,
  intent: text,
  isolation: text,
  judges: { "*": judge },
  pre_execution_validator: judge,
  output_handler: handler,
  prompt: text,
  default_response: text,
  approvers: texts,
  required_role: text,
  notify,
  escalate: { approvers: texts, notify },
  agents: { "*": { agent: text, input: text } },
  consensus: { strategy: text },
  judges_for_parallel: { "*": judge },
  image_pull_policy: text,
  steps: { "*": command },
  completion: text,
  workflow_id: text,
  mode: text,
  result_key: text,
};

const manifest: Paths = {
  apiVersion: text,
  kind: text,
  metadata: {
    name: text,
    version: text,
    description: text,
    labels: texts,
    annotations: texts,
    tags: texts,
    output_template: texts,
  },
  spec: {
    initial_state: text,
    // By name or by position.
    states: { "*": state },
    storage: {
      workspace: { storage_class: text, volume_id: text, blackboard_key: text },
      shared_volumes: { "*": { name: text, storage_class: text } },
    },
  },
};

/** Of a manifest, bare or in a wrapper. */
export const workflowTextPaths: TextPaths = pathsOf({ ...manifest, manifest, manifest_yaml: text, scope: text });

function pathsOf(paths: Paths | "text" | "textOrTexts"): TextPaths {
  if (paths === text) return { self: true };
  if (paths === textOrTexts) return { self: true, each: { self: true } };
  const { "*": each, ...members } = paths;
  return {
    members: Object.fromEntries(Object.entries(members).map(([key, below]) => [key, pathsOf(below)])),
    ...(each === undefined ? {} : { each: pathsOf(each) }),
  };
}
