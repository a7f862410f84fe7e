/** The sandboxes of this node, by the isolation they give. */
import type { Sandbox, SandboxDescription } from "./instance.ts";

export type Isolation = "process" | "docker";

/** The operations that need no choice of a sandbox: the one that holds the instance does them. */
export interface Instances {
  list: Sandbox["list"];
  inspect: Sandbox["inspect"];
  pause: Sandbox["pause"];
  resume: Sandbox["resume"];
  terminate: Sandbox["terminate"];
  remove: Sandbox["remove"];
}

export interface Weakness {
  readonly code: "unsandboxed" | "limit_not_enforced";
  readonly message: string;
}

/** What a sandbox does not keep an agent from. */
export function weaknessesOf({ sandbox, unenforcedLimits }: SandboxDescription): Weakness[] {
  const missing = unenforcedLimits.join(", ");
  return [
    ...(sandbox === "none"
      ? [{ code: "unsandboxed" as const, message: "The agent runs without a sandbox on this node" }]
      : []),
    ...(missing === ""
      ? []
      : [{ code: "limit_not_enforced" as const, message: `This node does not enforce: ${missing}` }]),
  ];
}

export class Sandboxes implements Instances {
  readonly #sandboxes: ReadonlyMap<string, Sandbox>;

  /** @param sandboxes in the order in which they are asked for instances */
  constructor(sandboxes: readonly Sandbox[]) {
    this.#sandboxes = new Map(sandboxes.map((sandbox) => [sandbox.describe().isolation, sandbox]));
  }

  /** Isolations that this node gives. */
  get offered(): readonly Isolation[] {
    return [...this.#sandboxes.values()].map((sandbox) => sandbox.describe().isolation);
  }

  /** What holds the agents, for people. */
  get kinds(): readonly SandboxDescription["sandbox"][] {
    return [...this.#sandboxes.values()].map((sandbox) => sandbox.describe().sandbox);
  }

  /** What this node cannot hold agents to, for operators; each message names the isolation. */
  get weaknesses(): readonly Weakness[] {
    return [...this.#sandboxes.values()].flatMap((sandbox) => {
      const description = sandbox.describe();
      return weaknessesOf(description).map(({ code, message }) => ({
        code,
        message: `${description.isolation}: ${message}`,
      }));
    });
  }

  /** Null where this node does not give that isolation. */
  of(isolation: string): Sandbox | null {
    return this.#sandboxes.get(isolation) ?? null;
  }

  /** Whether instances of this isolation can be kept from the network, and volumes be mounted into them. */
  holds(isolation: string): boolean {
    return this.of(isolation)?.describe().egressEnforced ?? false;
  }

  /** Why a program may not take the bootstrap's place under this isolation; null where it may. */
  programFault(isolation: string, path: string): string | null {
    return this.of(isolation)?.programFault?.(path) ?? null;
  }

  async list(): ReturnType<Sandbox["list"]> {
    const lists = await Promise.all([...this.#sandboxes.values()].map((sandbox) => sandbox.list()));
    return lists.flat();
  }

  async inspect(instanceId: string): ReturnType<Sandbox["inspect"]> {
    for (const sandbox of this.#sandboxes.values()) {
      const found = await sandbox.inspect(instanceId);
      if (found !== "gone") return found;
    }
    return "gone";
  }

  /** @returns null where no sandbox of this node has a way into the instance */
  async exec(...given: Parameters<Sandbox["exec"]>): ReturnType<Sandbox["exec"]> {
    for (const sandbox of this.#sandboxes.values()) {
      if ((await sandbox.inspect(given[0])) === "running") return sandbox.exec(...given);
    }
    return null;
  }

  /** Null for an instance that runs in no container, or on another host, and while the engine does not answer. */
  async containerOf(instanceId: string): ReturnType<NonNullable<Sandbox["containerOf"]>> {
    for (const sandbox of this.#sandboxes.values()) {
      const found = await sandbox.containerOf?.(instanceId).catch(() => null);
      if (found) return found;
    }
    return null;
  }

  async pause(instanceId: string): ReturnType<Sandbox["pause"]> {
    for (const sandbox of this.#sandboxes.values()) {
      const answer = await sandbox.pause(instanceId);
      if (answer !== "gone") return answer;
    }
    return "gone";
  }

  /** @throws when one of the sandboxes does not answer; the others are asked nevertheless */
  async resume(instanceId: string): Promise<void> {
    await this.#each((sandbox) => sandbox.resume(instanceId));
  }

  /** @throws when one of the sandboxes does not answer; the others are done nevertheless */
  async terminate(instanceId: string, graceMs: number): Promise<void> {
    await this.#each((sandbox) => sandbox.terminate(instanceId, graceMs));
  }

  /** @throws likewise */
  async remove(instanceId: string): Promise<void> {
    await this.#each((sandbox) => sandbox.remove(instanceId));
  }

  /** Destroys the instances kept ready: of an agent that was changed, paused or deleted, or of all. */
  async drain(agentId?: string): Promise<void> {
    await this.#each(async (sandbox) => sandbox.drain?.(agentId));
  }

  async #each(act: (sandbox: Sandbox) => Promise<void>): Promise<void> {
    const done = await Promise.allSettled([...this.#sandboxes.values()].map(act));
    for (const one of done) if (one.status === "rejected") throw one.reason;
  }
}
