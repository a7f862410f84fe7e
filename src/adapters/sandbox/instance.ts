/**
 * The port to sandboxes: where an agent's bootstrap and its commands really run.
 *
 * An instance serves one iteration of one execution and is then removed; the workspace belongs to the
 * execution and outlives its instances. Instances outlive the node that launched them: everything
 * needed to find one again, its output and its exit included, is kept outside the node's memory.
 */

import type { Secret } from "../../lib/secret.ts";
import type { ExecResult, InsideCommand } from "./inside.ts";

export interface InstanceLimits {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly processes: number;
}

/** A directory of this host inside an instance. */
export interface InstanceMount {
  /** Absolute host path of a directory, or of a file. */
  readonly source: string;
  /** `/workspace` or below; of a command in a container any place but those of the system and ours. */
  readonly target: string;
  readonly readOnly: boolean;
}

/** What of the outside an instance may reach beside the gateway. */
export interface InstanceEgress {
  /** User and password that the egress proxy knows the execution by. */
  readonly username: string;
  readonly password: string;
}

/** A tenant's credential for a registry. */
export interface RegistryLogin {
  /** Names tenant and credential: images that one of them was given are not another's. */
  readonly holder: string;
  readonly username: Secret;
  readonly password: Secret;
}

export interface Command {
  /** A name that PATH finds or a path, and its arguments. */
  readonly argv: readonly string[];
  /** Absolute, inside. */
  readonly workdir: string;
  /** Null: 1000. Its group is 1000 in any case. */
  readonly user: number | null;
  /**
   * Its standard streams belong to the node, by the sockets in `directory` (src/programs/init/streams.ts). Absent: standard
   * input is empty, and the outputs are kept.
   */
  readonly streams?: {
    /** Absolute host path. */
    readonly directory: string;
    /** Files and directories of the host that it sees read-only in their own places. */
    readonly shown: readonly string[];
  };
}

export interface InstanceSpec {
  readonly instanceId: string;
  readonly executionId: string;
  readonly tenant: string;
  /** The instance's whole environment as docs/reference/executions.md lists it, gateway address included. */
  readonly environment: Readonly<Record<string, string>>;
  /** Handed to the bootstrap as its first argument, or by file where it is too long for one. */
  readonly prompt: string;
  readonly limits: InstanceLimits;
  /** Null where the runtime has none (`process`). */
  readonly image: {
    readonly reference: string;
    readonly pullPolicy: "Always" | "IfNotPresent" | "Never";
    /** What the registry is asked with; absent: nothing. */
    readonly login?: RegistryLogin;
  } | null;
  /** Shortest targets first; one of them is `/workspace`. */
  readonly mounts: readonly InstanceMount[];
  /** The root file system is read-only and `/tmp` small. */
  readonly readOnlyRoot: boolean;
  /** Null: no way out at all. */
  readonly egress: InstanceEgress | null;
  /**
   * Shell text run in `/workspace` before the bootstrap, 60 s at most; it never sees the execution token. When it
   * fails the instance ends without running anything else, and `startupFailure` of its exit says why.
   */
  readonly startupScript: string | null;
  /**
   * A command in place of the bootstrap (docs/reference/workflows.md): it gets `environment`, what its image
   * gives, PATH and HOME, and with `egress` the proxy's address; no gateway and no token. Exit codes are a shell's: 127
   * when there is no such program, 126 when it cannot be run or its directory cannot be entered. Null: an agent's
   * instance. `prompt`, `startupScript`, `bootstrapPath` and `pool` are "" and null with it.
   */
  readonly command: Command | null;
  /** A program inside the instance that replaces the bootstrap. */
  readonly bootstrapPath: string | null;
  /** Runs of the same key share instances kept ready; null: never one of those. */
  readonly pool: { readonly key: string; readonly size: number } | null;
}

const longestEngineMessage = 500;

/** The instance cannot be started, for one of the reasons that a record names. Repeating does not help. */
export class LaunchFailure extends Error {
  override readonly name = "LaunchFailure";
  constructor(
    readonly code:
      | "image_pull_failed"
      | "startup_script_failed"
      | "volume_error"
      | "runtime_error"
      /** Of commands only: nothing here can hold one. */
      | "sandbox_unavailable"
      /** Of commands only: an argument or a variable is none that a program can be given. */
      | "template_value_invalid"
      /** Of commands only: the credential for the registry holds no name and password. */
      | "registry_credentials_invalid",
    message: string,
    options?: { readonly cause: unknown },
  ) {
    super(message, options);
  }
}

/**
 * The container engine refused, or did not answer. Repeating may help. Its message is for anyone; what the engine or a
 * registry said is the operator's, for it tells of the host and of its network.
 */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly detail: string;
  constructor(
    detail: string,
    /** HTTP status of the engine's answer; null when there was none. */
    readonly status: number | null,
  ) {
    super(status === null ? "The container engine did not answer" : "The container engine refused");
    this.detail = detail.slice(0, longestEngineMessage);
  }
}

/** A stage of a launch that takes long. */
export type LaunchNews =
  | { readonly stage: "image_pull_started"; readonly image: string }
  | { readonly stage: "image_pull_completed"; readonly image: string; readonly durationMs: number }
  | { readonly stage: "image_pull_failed"; readonly image: string; readonly error: string };

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
  /** At most 1 MiB: head and tail are kept, of a command the tail. */
  readonly stdout: string;
  readonly stdoutTruncated: boolean;
  /** At most the last 64 KiB, of a command the last 1 MiB. */
  readonly stderr: string;
  readonly stderrTruncated: boolean;
}

/** The end of an instance that nothing is left of. */
export const lostExit: InstanceExit = {
  reason: "lost",
  exitCode: null,
  stdout: "",
  stdoutTruncated: false,
  stderr: "",
  stderrTruncated: false,
};

/** How well this node can hold an agent; shown on the record. */
export interface SandboxDescription {
  readonly isolation: "process" | "docker";
  readonly sandbox: "bubblewrap" | "container" | "none";
  readonly egressEnforced: boolean;
  /** What this node cannot enforce: `cpu`, `memory`, `disk`, `processes`; `system_calls`, `user_namespaces`. */
  readonly unenforcedLimits: readonly string[];
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Bytes already reported per stream by an earlier follower. */
  readonly from: Readonly<Record<OutputStream, number>>;
  onOutput(chunk: OutputChunk): void;
}

/** `unsupported`: this host cannot have it stand still, it runs on. `gone`: it does not run, or is about to end. */
export type PauseAnswer = "paused" | "unsupported" | "gone";

export interface Sandbox {
  describe(): SandboxDescription;
  /**
   * Why a program may not take the bootstrap's place here, read after "bootstrap_path"; null where it may. Absent where
   * programs are those of an image.
   */
  programFault?(path: string): string | null;
  /**
   * Starts the instance, or finds it already started: the same instance id never runs twice.
   * @throws LaunchFailure
   */
  launch(spec: InstanceSpec, report: (news: LaunchNews) => void): Promise<void>;
  /** What is known of an instance, started by any node. */
  inspect(instanceId: string): Promise<"running" | "exited" | "gone">;
  /** Reports output until the instance ends. Rejects with the signal's reason when aborted; the instance runs on. */
  follow(instanceId: string, options: FollowOptions): Promise<InstanceExit>;
  /**
   * Has every process of the instance stand still where it is: its memory stays, it uses no processor time and hears
   * nothing. It stays so when the node ends, and until `resume`; `terminate` and `remove` end it nevertheless. Repeatable.
   */
  pause(instanceId: string): Promise<PauseAnswer>;
  /** Has a paused instance go on. Repeatable; nothing happens to one that is not paused, or gone. */
  resume(instanceId: string): Promise<void>;
  /**
   * Does the work, which is to be short, while the instance stands still, where this host can have it do so. One that is
   * paused stays so. Absent where nothing of an instance writes.
   */
  hold?<T>(instanceId: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs a command inside an instance, beside its program and held to the same bounds. It ends with its own time limit, and
   * with the instance; `max_output_bytes` bounds what comes back.
   * @returns null where nothing leads into it: it does not run, stands still, or this host has no way in
   * @throws the signal's reason when it is aborted
   */
  exec(instanceId: string, command: InsideCommand, signal: AbortSignal): Promise<ExecResult | null>;
  /** Asks the instance to end, kills it after the grace, and waits for that. Repeatable. */
  terminate(instanceId: string, graceMs: number): Promise<void>;
  /** Removes what is left of an ended instance. Repeatable. */
  remove(instanceId: string): Promise<void>;
  /** The container of an instance as the engine names it; null when it is not there. Absent where there are none. */
  containerOf?(instanceId: string): Promise<{ readonly id: string; readonly name: string } | null>;
  /** The host's id of a process of an instance, given the id that it has within; null when it cannot be told. */
  hostProcess?(instanceId: string, within: number): Promise<number | null>;
  /** Every instance this host holds, for the orphan sweep. */
  list(): Promise<readonly { readonly instanceId: string; readonly executionId: string }[]>;
  /** Destroys the instances kept ready, of one agent or of all. Absent where none ever are. */
  drain?(agentId?: string): Promise<void>;
}
