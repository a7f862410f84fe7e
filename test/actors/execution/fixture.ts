/** A header and a plan to start executions from in tests. */
import type { Header, Plan } from "../../../actors/execution/start/plan.ts";
import { builtinTools } from "../../../actors/tool/catalog.ts";

const AGENT = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";

export function sampleHeader(change: Partial<Header> = {}): Header {
  return {
    agent_id: AGENT,
    agent_name: "parcel-triage",
    agent_version: "1.4.0",
    agent_revision: 1,
    mode: "one-shot",
    max_iterations: 1,
    timeout_ms: 1_800_000,
    iteration_timeout_ms: 600_000,
    llm_timeout_ms: 300_000,
    max_tokens: null,
    intent: null,
    labels: { team: "north" },
    trigger: "api",
    workflow_name: null,
    workflow_execution_id: null,
    hierarchy: { parent_execution_id: null, depth: 0, path: [], swarm_id: null },
    security_context: null,
    initiating_user_sub: "user-1",
    retry_of: null,
    runtime: { isolation: "process", image: null, sandbox: null, egress_enforced: null },
    volumes: [],
    warnings: [],
    bounds: { max_rounds: 50, dispatch_grace_ms: 120_000, tool_parallelism: 8, tool_message_bytes: 65_536 },
    ...change,
  };
}

export function samplePlan(change: Partial<Plan> = {}): Plan {
  return {
    instruction: "Sort each parcel note into a lane.",
    description: null,
    prompt_template: null,
    input_data: null,
    agentskills: [],
    context: [],
    input: { day: "2031-05-02" },
    context_overrides: null,
    attachments: [],
    model: { alias: "default", temperature: null },
    tools: [...builtinTools],
    validators: [],
    tool_judges: [],
    output_handler: null,
    deliveries: [],
    mounts: [],
    image_pull_policy: "IfNotPresent",
    warm_pool_size: 0,
    env: {},
    resources: { cpu_millicores: 1000, memory_bytes: 1, disk_bytes: 1, processes: 512 },
    filesystem: { read: [], write: [], read_only: false },
    network: null,
    asked: { timeout_seconds: null, max_iterations: null, max_tokens: null, security_context: null },
    startup_script: null,
    bootstrap_path: null,
    ...change,
  };
}

export const sampleAttachment = { volume_id: "v", path: "/a", name: "a", mime_type: "text/plain", size: 1 };
