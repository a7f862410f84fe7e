/**
 * The port to sandboxes: where an agent's bootstrap and its commands really run.
 *
 * An instance serves one iteration of one execution and is then removed; the workspace belongs to the
 * execution and outlives its instances. Instances outlive the node that launched them: everything
 * needed to find one again, its output and its exit included, is kept outside the node's memory.
 */

export interface InstanceLimits {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly processes: number;
}

export interface InstanceSpec {
  readonly instanceId: string;
  readonly executionId: string;
  readonly tenant: string;
  /** The instance's whole environment as the contract lists it, gateway address included. */
  readonly environment: Readonly<Record<string, string>>;
  /** Handed to the bootstrap as its first argument, or by file where it is too long for one. */
  readonly prompt: string;
  readonly limits: InstanceLimits;
}

export type OutputStream = "stdout" | "stderr";

/** A piece of output. `offset` counts bytes from the start of the stream, so that repeats can be told. */
export interface OutputChunk {
  readonly stream: OutputStream;
  readonly offset: number;
  readonly content: string;
  /** Bytes of the stream this chunk covers. */
  readonly bytes: number;
}

export type ExitReason = "exited" | "terminated" | "out_of_memory" | "disk_exceeded" | "lost";

export interface InstanceExit {
  readonly reason: ExitReason;
  /** Null when the process never reported one. */
  readonly exitCode: number | null;
  /** At most 1 MiB, head and tail kept. */
  readonly stdout: string;
  readonly stdoutTruncated: boolean;
  /** At most the last 64 KiB. */
  readonly stderr: string;
}

/** How well this node can hold an agent; shown on the record. */
export interface SandboxDescription {
  readonly isolation: "process" | "docker";
  readonly sandbox: "bubblewrap" | "container" | "none";
  readonly egressEnforced: boolean;
  /** Names of the limits this node cannot enforce: `cpu`, `memory`, `disk`, `processes`. */
  readonly unenforcedLimits: readonly string[];
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Bytes already reported per stream by an earlier follower. */
  readonly from: Readonly<Record<OutputStream, number>>;
  onOutput(chunk: OutputChunk): void;
}

export interface Sandbox {
  describe(): SandboxDescription;
  /** Starts the instance, or finds it already started: the same instance id never runs twice. */
  launch(spec: InstanceSpec): Promise<void>;
  /** What is known of an instance, whoever started it. */
  inspect(instanceId: string): Promise<"running" | "exited" | "gone">;
  /** Reports output until the instance ends. Rejects with the signal's reason when aborted; the instance runs on. */
  follow(instanceId: string, options: FollowOptions): Promise<InstanceExit>;
  /** Asks the instance to end, kills it after the grace, and waits for that. Repeatable. */
  terminate(instanceId: string, graceMs: number): Promise<void>;
  /** Removes what is left of an ended instance. Repeatable. */
  remove(instanceId: string): Promise<void>;
  /** Every instance this host holds, for the orphan sweep. */
  list(): Promise<readonly { readonly instanceId: string; readonly executionId: string }[]>;
  /** Host directory behind `/workspace`, made if absent. */
  workspace(executionId: string): Promise<string>;
  removeWorkspace(executionId: string): Promise<void>;
  /** Executions whose workspace this host holds, for the orphan sweep. */
  workspaces(): Promise<readonly string[]>;
}
