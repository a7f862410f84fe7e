/**
 * The workflow behind `execute.intent`: an agent of the service writes a program, a sandbox runs it; a program that fails
 * goes back to its writer. It is part of the program, and a run holds it as it was when the run began
 * (docs/decisions/agents-of-the-service.md).
 */

import { programWriter } from "../../../../../actors/agent/of-service.ts";
import { systemTenant } from "../../../../../actors/identity/identity.ts";
import type { Transition } from "../../../../../actors/workflow/definition/parts.ts";
import type { AgentState, SystemState } from "../../../../../actors/workflow/definition/states.ts";
import type { Definition } from "../../../../../actors/workflow/definition.ts";
import type { ResolvedWorkflow } from "../../../../../actors/workflow/run/start/request.ts";
import { version } from "../../../../../package.json";
import { derivedUuid } from "../../../../lib/digest.ts";

export const languages = ["python", "javascript", "bash"] as const;
export type Language = (typeof languages)[number];

/** No tenant's workflow can be called so. */
const name = "svc.execute.intent";
const id = derivedUuid(`workflow of the service: ${name}`);
/** Programs that are written for one intent at most. */
const maxAttempts = 3;

export const isPipeline = (workflowId: string): boolean => workflowId === id;

/** States: the agent at work, and its program. */
export const [writing, running] = ["WRITE", "RUN"] as const;

const MiB = 2 ** 20;
const common = { max_state_visits: maxAttempts, outcome: "completed" } as const;

interface Program {
  readonly file: string;
  readonly runs: string;
  /** Of the table of runtimes: whose image it runs in, where it runs in containers. bash is part of this one. */
  readonly runtime: "python" | "javascript";
}

const programs: Readonly<Record<Language, Program>> = {
  python: { file: "program.py", runs: "python3 program.py", runtime: "python" },
  javascript: { file: "program.cjs", runs: "node program.cjs", runtime: "javascript" },
  bash: { file: "program.sh", runs: "bash program.sh", runtime: "python" },
};

export interface RuntimeImage {
  readonly language: string;
  readonly image: string;
  readonly deprecated: boolean;
}

/** @param runtimes of this node, older ones before newer ones */
export function pipelineOf(
  language: Language,
  timeoutSeconds: number,
  runtimes: readonly RuntimeImage[],
): ResolvedWorkflow {
  const { runtime } = programs[language];
  const image = runtimes.findLast((one) => one.language === runtime && !one.deprecated)?.image ?? null;
  const states = { [writing]: write(language), [running]: run(language, timeoutSeconds, image) };
  const definition: Definition = {
    name,
    version,
    input_schema: null,
    output_schema: { type: "object", properties: { exit_code: { type: "integer" } } },
    output_template: {
      language,
      program: `{{${writing}.output}}`,
      exit_code: `{{${running}.exit_code}}`,
      stdout: `{{${running}.stdout}}`,
      stderr: `{{${running}.stderr}}`,
    },
    context: {},
    initial_state: writing,
    max_total_transitions: 2 * maxAttempts,
    storage: { workspace: null, shared_volumes: [] },
    states,
  };
  return { workflow_id: id, name, version, owner: systemTenant, definition };
}

/** A writer that fails is the end of it. */
function write(language: Language): AgentState {
  return {
    kind: "Agent",
    ...common,
    timeout_ms: null,
    transitions: [{ condition: "on_success", rule: { on: "on_success" }, target: running, feedback: null }],
    agent: programWriter,
    input: {
      language,
      intent: "{{intent}}",
      inputs: "{{json input}}",
      previous: `{{${writing}.output}}`,
      feedback: "{{state.feedback}}",
    },
    intent: null,
    isolation: "inherit",
    temperature: null,
    judges: [],
    judge_threshold: 0,
    max_iterations: 1,
    pre_execution_validator: null,
    volumes: [],
    output_handler: null,
  };
}

/** A program that ends by itself with a fault is mended; one that takes too long, or has no sandbox, is not. */
const mend: Transition = {
  condition: "custom",
  rule: { on: "custom", expression: `state_output.exit_code > 0 && state.visit < ${maxAttempts}` },
  target: writing,
  feedback: `Its exit code was {{${running}.exit_code}}. stderr: {{${running}.stderr}} stdout: {{${running}.stdout}}`,
};

function run(language: Language, timeoutSeconds: number, image: string | null): SystemState {
  const { file, runs } = programs[language];
  return {
    kind: "System",
    ...common,
    timeout_ms: timeoutSeconds * 1000,
    transitions: [mend],
    // The program is a value: it is written to a file, and no shell reads it as a part of its own text.
    command: { form: "text", text: `printf '%s\\n' {{${writing}.output}} > ${file} && exec ${runs}` },
    env: {},
    workdir: "/workspace",
    image,
    network_mode: "none",
    resources: { cpu_millicores: 1000, memory_bytes: 512 * MiB },
  };
}
