/** Instances as the tests of sandboxes make them: the prompt of one is a shell script. */
import type {
  InstanceExit,
  InstanceLimits,
  InstanceSpec,
  OutputChunk,
  Sandbox,
} from "../../../src/adapters/sandbox/instance.ts";

export const mebibyte = 1_024 * 1_024;
export const roomy: InstanceLimits = {
  cpuMillicores: 1_000,
  memoryBytes: 256 * mebibyte,
  diskBytes: 64 * mebibyte,
  processes: 128,
};

export interface SandboxFixture {
  readonly sandbox: Sandbox;
  /** What the adapter can do, for the cases that some hosts cannot have. */
  readonly holds: {
    /** Several mounts, read-only ones, a read-only root: everything but the bare workspace. */
    readonly mounts: boolean;
    /** Its processes can be made to stand still. */
    readonly pause: boolean;
    /** A network of its own, with nothing in it but what is relayed. */
    readonly network: boolean;
  };
  /** Host directory behind the `/workspace` of an execution, made if absent, the agent's own. */
  workspace(executionId: string): string;
  /** Another host directory that the agent may write to. */
  volume(): string;
  /** Serves one more gateway of this host at a unix socket. @returns its path */
  gatewaySocket(name: string): string;
  /** Likewise an egress proxy's. */
  egressSocket(name: string): string;
  /** Another adapter over the same data, as another node of the host would make it. */
  another(): Promise<Sandbox>;
  dispose(): Promise<void>;
}

/** Whose instances `specOf` makes. */
export const sampleTenant = "acme";

/** An instance whose program gets `prompt`; its `/workspace` is the execution's own. */
export function specOf(
  fixture: Pick<SandboxFixture, "workspace">,
  prompt: string,
  changes: Partial<InstanceSpec> = {},
): InstanceSpec {
  const executionId = changes.executionId ?? crypto.randomUUID();
  return {
    instanceId: crypto.randomUUID(),
    executionId,
    tenant: sampleTenant,
    environment: { SVC_EXECUTION_ID: "x", GREETING: 'it\'s $HOME\n"quoted"' },
    prompt,
    limits: roomy,
    image: null,
    mounts: [{ source: fixture.workspace(executionId), target: "/workspace", readOnly: false }],
    readOnlyRoot: false,
    egress: null,
    startupScript: null,
    command: null,
    bootstrapPath: null,
    pool: null,
    ...changes,
  };
}

export async function runToEnd(
  sandbox: Sandbox,
  spec: InstanceSpec,
): Promise<{ exit: InstanceExit; chunks: OutputChunk[] }> {
  await sandbox.launch(spec, () => {});
  const chunks: OutputChunk[] = [];
  const exit = await sandbox.follow(spec.instanceId, {
    signal: AbortSignal.timeout(60_000),
    from: { stdout: 0, stderr: 0 },
    onOutput: (chunk) => chunks.push(chunk),
  });
  return { exit, chunks };
}

/** Waits until an instance has written something. */
export async function untilOutput(sandbox: Sandbox, instanceId: string): Promise<string> {
  let output = "";
  const stop = new AbortController();
  await sandbox
    .follow(instanceId, {
      signal: stop.signal,
      from: { stdout: 0, stderr: 0 },
      onOutput: (chunk) => {
        output += chunk.content;
        stop.abort();
      },
    })
    .catch(() => {});
  return output;
}
