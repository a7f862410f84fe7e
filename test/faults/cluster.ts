/** Nodes as processes, and what may befall them: start, kill, freeze, thaw, drain. */
import { join } from "node:path";
import type { Json } from "../../actors/kernel/json.ts";
import type { RuntimeCounts, RuntimeStatus } from "../../src/runtime/index.ts";
import type { StoreAddress } from "../harness/runtime/runtime.ts";
import type { Failure, FromNode, NodeSettings, Request } from "./protocol.ts";

/** A node answered with an error, or died before it answered. */
class NodeFailure extends Error {
  override readonly name: string;
  constructor({ name, message }: Failure) {
    super(message);
    this.name = name;
  }
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class NodeProcess {
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  nodeId = "";
  /** False while frozen or dead: orders would wait. */
  responsive = false;
  private readonly child: Bun.Subprocess<"ignore", "inherit", "inherit">;

  constructor(settings: NodeSettings, ready: (error: Error | null) => void) {
    this.child = Bun.spawn([process.execPath, join(import.meta.dir, "node.ts"), JSON.stringify(settings)], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      serialization: "json",
      ipc: (message: FromNode) => {
        if ("ready" in message) {
          this.nodeId = message.ready;
          this.responsive = true;
          ready(null);
        } else this.settle(message);
      },
      onExit: () => {
        this.responsive = false;
        const error = new NodeFailure({ name: "NodeDied", message: "the node died before it answered" });
        ready(error);
        for (const { reject } of this.waiting.values()) reject(error);
        this.waiting.clear();
      },
    });
  }

  private settle(message: Exclude<FromNode, { ready: string }>): void {
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if ("failure" in message) waiting?.reject(new NodeFailure(message.failure));
    else waiting?.resolve(message.value);
  }

  private order(request: Request): Promise<unknown> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) {
      return Promise.reject(new NodeFailure({ name: "NodeDied", message: "the node is dead" }));
    }
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.send({ id, request });
    });
  }

  async tell(key: string, type: string, body: Json, kind = "counter"): Promise<void> {
    await this.order({ verb: "tell", kind, key, type, body });
  }

  /** Resolves when a commit has taken it. */
  async tellCommitted(key: string, type: string, body: Json): Promise<void> {
    await this.order({ verb: "tellCommitted", kind: "counter", key, type, body });
  }

  async ask(key: string, type: string, body: Json, deadlineMs = 10_000, kind = "counter"): Promise<Json> {
    return (await this.order({ verb: "ask", kind, key, type, body, deadlineMs })) as Json;
  }

  /** @returns how many were answered: all */
  async flood(tenant: string, flood: Omit<Extract<Request, { verb: "flood" }>, "verb" | "tenant">): Promise<number> {
    return (await this.order({ verb: "flood", tenant, ...flood })) as number;
  }

  /** @returns ms */
  async measure(tenant: string, messages: number, direct: boolean): Promise<readonly number[]> {
    return (await this.order({ verb: "measure", tenant, messages, direct })) as readonly number[];
  }

  async status(): Promise<RuntimeStatus> {
    return (await this.order({ verb: "status" })) as RuntimeStatus;
  }

  async counts(): Promise<RuntimeCounts> {
    return (await this.order({ verb: "counts" })) as RuntimeCounts;
  }

  /** Resolves to `SIGKILL` and the like, or to the exit code, once the process is gone. */
  async end(): Promise<string | number> {
    await this.child.exited;
    return this.child.signalCode ?? this.child.exitCode ?? -1;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Nobody waits for the answers to earlier orders any more; the node may still carry them out. */
  giveUpWaiting(): void {
    for (const { reject } of this.waiting.values())
      reject(new NodeFailure({ name: "NodeFrozen", message: "the node is frozen" }));
    this.waiting.clear();
  }
}

export class Cluster {
  readonly nodes: NodeProcess[] = [];

  constructor(
    private readonly stores: StoreAddress,
    private readonly settings: Partial<NodeSettings> = {},
  ) {}

  /** Starts a node and waits until it has its share of the partitions. */
  async start(settings: Partial<NodeSettings> = {}): Promise<NodeProcess> {
    const {
      databaseUrl,
      schema,
      redisUrl,
      redisServers = redisUrl,
      prefix,
      pooled = false,
      watched = false,
      poolSize = 6,
    } = this.stores;
    return await new Promise((resolve, reject) => {
      const node: NodeProcess = new NodeProcess(
        {
          stores: { databaseUrl, schema, redisUrl, redisServers, prefix, pooled, watched, poolSize },
          host: "host-1",
          partitions: 8,
          leaseTtlMs: 1500,
          mailboxLimit: 100_000,
          crash: null,
          version: null,
          ...this.settings,
          ...settings,
        },
        (error) => (error === null ? resolve(node) : reject(error)),
      );
      this.nodes.push(node);
    });
  }

  get responsive(): readonly NodeProcess[] {
    return this.nodes.filter((node) => node.responsive);
  }

  /** kill -9. */
  async kill(node: NodeProcess): Promise<void> {
    node.responsive = false;
    node.signal("SIGKILL");
    await node.end();
  }

  /** Stops the process where it stands; its sockets stay open. */
  freeze(node: NodeProcess): void {
    node.responsive = false;
    node.signal("SIGSTOP");
    node.giveUpWaiting();
  }

  thaw(node: NodeProcess): void {
    node.signal("SIGCONT");
    node.responsive = true;
  }

  /** SIGTERM; yields how the process ended. */
  async drain(node: NodeProcess): Promise<string | number> {
    node.signal("SIGTERM");
    return await node.end();
  }

  async killAll(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.kill(node)));
  }
}
