/** An agent as it is run: a manifest with every default applied and every quantity in plain units. */

import type { Json } from "../../kernel/json.ts";
import type { ToolApproval } from "../../policy/security/spec.ts";
import type { Delivery, JudgeValidator, OutputHandler, Validator } from "./execution/results.ts";
import type { Runtime } from "./runtime/runtimes.ts";

export const isolations = ["inherit", "docker", "process", "firecracker"] as const;
export type Isolation = (typeof isolations)[number];

export interface Metadata {
  readonly name: string;
  readonly version: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The label `role`, else `standard`. */
  readonly agent_type: string;
}

export interface RuntimeSpec {
  /** Null when the manifest names an image instead. */
  readonly language: string | null;
  readonly version: string | null;
  /** The manifest's own image, else the registry's. */
  readonly image: string;
  readonly image_pull_policy: "Always" | "IfNotPresent" | "Never";
  /** What the image is pulled with: a credential's id, or a reference; null: nothing. */
  readonly registry_credentials: string | null;
  readonly isolation: Isolation;
  /** Model alias. */
  readonly model: string;
  /** Null: the model's. */
  readonly temperature: number | null;
  /** Environment the registry asks for in this runtime. */
  readonly bootstrap_env: Readonly<Record<string, string>>;
}

export interface TaskSpec {
  readonly instruction: string;
  /** Null: the default prompt. */
  readonly prompt_template: string | null;
  readonly input_data: Json;
  readonly agentskills: readonly string[];
}

export interface ExecutionSpec {
  readonly mode: "one-shot" | "iterative";
  readonly max_iterations: number;
  readonly iteration_timeout_ms: number;
  /** Total budget of one model call with its retries. */
  readonly llm_timeout_ms: number;
  /** Of the whole execution, prompts and replies together; null: any number. */
  readonly max_tokens: number | null;
  readonly validators: readonly Validator[];
  /** Judges that every tool call has to pass, in order. */
  readonly tool_judges: readonly JudgeValidator[];
  readonly deliveries: readonly Delivery[];
}

export interface ResourceSpec {
  readonly cpu_millicores: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
  /** The whole execution. */
  readonly timeout_ms: number;
}

export interface NetworkSpec {
  readonly mode: "none" | "deny" | "allow";
  readonly allowlist: readonly string[];
  readonly denylist: readonly string[];
}

export interface FilesystemSpec {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly read_only: boolean;
}

/** Something loaded when the run starts and put before the model as `{{context}}`. */
export type ContextItem = { readonly description: string | null } & (
  | { readonly type: "text"; readonly content: string }
  /** Paths are the instance's: below a mount. */
  | { readonly type: "file" | "directory"; readonly path: string }
  | { readonly type: "url"; readonly url: string }
);

export interface VolumeSpec {
  readonly name: string;
  /** `/workspace` or below. */
  readonly mount_path: string;
  readonly storage_class: "ephemeral" | "persistent";
  readonly access_mode: "read-only" | "read-write";
  readonly size_limit_bytes: number;
  /** Of an ephemeral volume: how long it outlives the run. */
  readonly ttl_ms: number;
  /** An existing volume; then the storage class says nothing. */
  readonly source_volume_id: string | null;
  /** A directory of the host, absolute; absent: a volume of the service. Storage class, limit and age say nothing. */
  readonly host_path?: string;
}

export type ScheduleSpec =
  /** Five fields, in the time zone. */
  | { readonly type: "cron"; readonly cron: string; readonly timezone: string }
  | { readonly type: "interval"; readonly every_ms: number };

export interface ToolGrant {
  /** A name, `prefix.*`, `*` or `mcp:<server>`; `aegis.` is already spelled `svc.`. */
  readonly name: string;
  readonly skip_judge: boolean;
  /** A person is asked before it runs. */
  readonly approval?: ToolApproval;
}

export interface AgentSpec {
  readonly metadata: Metadata;
  readonly runtime: RuntimeSpec;
  readonly task: TaskSpec;
  readonly execution: ExecutionSpec;
  readonly resources: ResourceSpec;
  /** Null: no `network` section, which means no egress, as mode `none` does. */
  readonly network: NetworkSpec | null;
  readonly filesystem: FilesystemSpec;
  readonly tools: readonly ToolGrant[];
  readonly env: Readonly<Record<string, string>>;
  readonly input_schema: Json;
  /** Null: the caller's default. */
  readonly security_context: string | null;
  readonly context: readonly ContextItem[];
  readonly volumes: readonly VolumeSpec[];
  /** Null: nothing starts it by itself. */
  readonly schedule: ScheduleSpec | null;
  readonly output_handler: OutputHandler | null;
  /** Instances kept ready. */
  readonly warm_pool_size: number;
  /** Children join one swarm and outlive their parent. */
  readonly swarm: boolean;
  readonly startup_script: string | null;
  readonly bootstrap_path: string | null;
}

/** What the rules of a manifest's members need to know. */
export interface AgentScope {
  readonly offer: NodeOffer;
  /** Those read so far. */
  readonly volumes: VolumeSpec[];
}

/** What a node offers and allows; a manifest is judged against it at deploy. */
export interface NodeOffer {
  readonly runtimes: readonly Runtime[];
  /** Isolations this node can give, `inherit` aside. */
  readonly isolations: readonly Isolation[];
  /** What `inherit` means here. */
  readonly defaultIsolation: Isolation;
  /** Registries images may come from; null = any. */
  readonly imageRegistries: readonly string[] | null;
  /** Images that may be run without asking a registry; null: any. */
  readonly localImages: readonly string[] | null;
  /** Directories of the host that the deployer may open, absolute; none unless that is an operator. */
  readonly hostPaths: readonly string[];
  /** Ceiling of a whole execution. */
  readonly maxExecutionSeconds: number;
  /** Exact names of the tools an agent can use. */
  readonly tools: readonly string[];
  /** A manifest may open every public host at once. */
  readonly openEgress: boolean;
  /** Programs of the host may take the bootstrap's place. */
  readonly development: boolean;
  /** Why a program may not take the bootstrap's place under an isolation, as a message; null where it may. */
  programFault(isolation: string, path: string): string | null;
  servesModel(alias: string): boolean;
}

/** Members of the first version. Stored rows never change, so they lack the others, which need a default below. */
type FirstSpec =
  | "metadata"
  | "runtime"
  | "task"
  | "execution"
  | "resources"
  | "network"
  | "filesystem"
  | "tools"
  | "env"
  | "input_schema"
  | "security_context"
  | "startup_script"
  | "bootstrap_path";
type FirstExecution = "mode" | "max_iterations" | "iteration_timeout_ms" | "llm_timeout_ms" | "validators";
type LaterSpec = Omit<AgentSpec, FirstSpec>;
type LaterRuntime = Pick<RuntimeSpec, "registry_credentials">;
type LaterExecution = Omit<ExecutionSpec, FirstExecution>;

const laterMembers: LaterSpec = {
  context: [],
  volumes: [],
  schedule: null,
  output_handler: null,
  warm_pool_size: 0,
  swarm: false,
};
const laterRuntime: LaterRuntime = { registry_credentials: null };
const laterExecution: LaterExecution = { tool_judges: [], deliveries: [], max_tokens: null };

/** A stored manifest of any age. */
export type StoredSpec = Pick<AgentSpec, Exclude<FirstSpec, "execution" | "runtime">> &
  Partial<LaterSpec> & {
    readonly runtime: Omit<RuntimeSpec, keyof LaterRuntime> & Partial<LaterRuntime>;
    readonly execution: Pick<ExecutionSpec, FirstExecution> & Partial<LaterExecution>;
  };

/** A stored manifest with the defaults of the members that were added after it was stored. */
export function completeSpec(stored: StoredSpec): AgentSpec {
  return {
    ...laterMembers,
    ...stored,
    runtime: { ...laterRuntime, ...stored.runtime },
    execution: { ...laterExecution, ...stored.execution },
  };
}
