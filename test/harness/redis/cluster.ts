/** A real Redis Cluster of three masters and three replicas, whose masters can be killed and whose slots can be moved. */
import type { ClusterServers } from "../../../src/store/redis/servers.ts";
import { until } from "../until.ts";
import { host, openPlace, type Place, RedisServer, serverSettings } from "./server.ts";

const masters = 3;
const slots = 16_384;
/** A master that is silent for so long is given up, ms. */
const nodeTimeoutMs = 1_000;

export class RedisCluster {
  private constructor(
    private readonly place: Place,
    private readonly nodes: readonly RedisServer[],
  ) {}

  static async start(): Promise<RedisCluster> {
    const place = await openPlace();
    const ports = await place.ports(4 * masters);
    const nodes = Array.from({ length: 2 * masters }, (_, index) => {
      const [port, bus] = [ports[2 * index] as number, ports[2 * index + 1] as number];
      const folder = `${place.folder}/node-${index}`;
      return new RedisServer(place.program, folder, port, [
        ...serverSettings(folder, port),
        "cluster-enabled yes",
        `cluster-port ${bus}`,
        "cluster-config-file nodes.conf",
        `cluster-node-timeout ${nodeTimeoutMs}`,
      ]);
    });
    await Promise.all(nodes.map((node) => node.start()));
    const cluster = new RedisCluster(place, nodes);
    await cluster.join(ports);
    return cluster;
  }

  /** As the service's settings would say it. */
  get servers(): ClusterServers {
    const cluster = this.nodes.map(({ port }) => ({ host, port }));
    return { cluster, username: null, password: null, tls: false };
  }

  private async join(ports: readonly number[]): Promise<void> {
    const [first] = this.nodes;
    if (first === undefined) throw new Error("no node");
    for (const [index, { admin }] of this.nodes.entries()) {
      await admin.cluster("SET-CONFIG-EPOCH", index + 1);
      if (index < masters) {
        const [from, to] = [index, index + 1].map((part) => Math.ceil((part * slots) / masters)) as [number, number];
        await admin.call("CLUSTER", "ADDSLOTSRANGE", from, to - 1);
      }
    }
    for (const index of this.nodes.keys()) {
      if (index > 0)
        await first.admin.call("CLUSTER", "MEET", host, ports[2 * index] as number, ports[2 * index + 1] as number);
    }
    await until(async () => (await Promise.all(this.nodes.map(knownNodes))).every((known) => known === 2 * masters), {
      what: "every node to know every other",
    });
    for (const [index, { admin }] of this.nodes.entries()) {
      if (index < masters) continue;
      const master = await idOf(this.nodes[index - masters] as RedisServer);
      await until(
        () =>
          admin.call("CLUSTER", "REPLICATE", master).then(
            () => true,
            () => false,
          ),
        { what: "a replica" },
      );
    }
    await this.settled();
  }

  /** Resolves when every running node says that all is well, and every running replica follows its master. */
  async settled(): Promise<void> {
    const running = this.nodes.filter((node) => node.isRunning);
    await until(
      async () => {
        const infos = await Promise.all(
          running.map(async ({ admin }) => [await admin.cluster("INFO"), await admin.info("replication")] as const),
        );
        return infos.every(
          ([info, replication]) =>
            String(info).includes("cluster_state:ok") &&
            (replication.includes("role:master") || replication.includes("master_link_status:up")),
        );
      },
      { what: "the Cluster to be whole", timeoutMs: 30_000 },
    );
  }

  /** The master that serves a key. */
  async masterOf(key: string): Promise<RedisServer> {
    const asked = this.nodes.find((node) => node.isRunning);
    if (asked === undefined) throw new Error("no node is running");
    const slot = await asked.admin.cluster("KEYSLOT", key);
    const ranges = await asked.admin.cluster("SLOTS");
    const range = ranges.find(([from, to]) => from <= slot && slot <= to);
    const found = this.nodes.find(({ port }) => port === range?.[2]?.[1]);
    if (found === undefined) throw new Error(`no node serves slot ${slot}`);
    return found;
  }

  /**
   * Stops the master of a key and resolves when a replica of it has taken its slots.
   * @param how killed, or frozen: its sockets stay open
   */
  async failOverFrom(key: string, how: "kill" | "freeze"): Promise<RedisServer> {
    const master = await this.masterOf(key);
    await master[how]();
    await until(async () => (await this.masterOf(key)) !== master, { what: "a fail-over", timeoutMs: 30_000 });
    return master;
  }

  /**
   * Kills the master of a key together with what it was written `meanwhile`: it acknowledged that, but its replica, which
   * then takes its slots, never heard of it. `meanwhile` may take some seconds; after 20 s the replica would not stand.
   * @returns how much of the replication stream the replica lacks, bytes
   */
  async failOverLosing(key: string, meanwhile: () => Promise<void>): Promise<number> {
    const master = await this.masterOf(key);
    const id = await idOf(master);
    const lines = String(await master.admin.call("CLUSTER", "REPLICAS", id));
    const replica = this.nodes.find(({ port }) => lines.includes(`:${port}@`));
    if (replica === undefined) throw new Error("the master has no replica");
    replica.freeze();
    // What lies in the connection would reach the replica once it is thawed: from here on nothing comes in.
    await master.admin.call("CLIENT", "KILL", "TYPE", "replica");
    await meanwhile();
    const written = await offsetOf(master);
    await master.kill();
    replica.thaw();
    await until(async () => (await this.masterOf(key)) === replica, { what: "a fail-over", timeoutMs: 30_000 });
    const lacking = written - (await offsetOf(replica));
    await master.start();
    await this.settled();
    return lacking;
  }

  /** Kills every server, has `meanwhile` done, and starts them again with what is on their disks. */
  async withoutAll(meanwhile: () => Promise<void>): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    await meanwhile();
    await Promise.all(this.nodes.map((node) => node.start()));
    await this.settled();
  }

  /** Kills the server that listens on a port. */
  async killServerOn(port: number): Promise<void> {
    const server = this.nodes.find((node) => node.port === port);
    if (server === undefined) throw new Error(`no server listens on ${port}`);
    await server.kill();
  }

  /** Moves the slot of a key to another master, key by key, as a rebalancing does. @returns how many keys it moved */
  async moveSlotOf(key: string, betweenKeys: () => Promise<void>): Promise<number> {
    const source = await this.masterOf(key);
    const slot = await source.admin.cluster("KEYSLOT", key);
    const others = await this.runningMasters();
    const target = others.find((node) => node !== source);
    if (target === undefined) throw new Error("there is one master alone");
    const [sourceId, targetId] = [await idOf(source), await idOf(target)];
    await target.admin.call("CLUSTER", "SETSLOT", slot, "IMPORTING", sourceId);
    await source.admin.call("CLUSTER", "SETSLOT", slot, "MIGRATING", targetId);
    let moved = 0;
    for (;;) {
      const [name] = (await source.admin.call("CLUSTER", "GETKEYSINSLOT", slot, 1)) as string[];
      if (name === undefined) break;
      await source.admin.call("MIGRATE", host, target.port, name, 0, 5000);
      moved += 1;
      await betweenKeys();
    }
    for (const node of [target, source, ...others.filter((one) => one !== source && one !== target)])
      await node.admin.call("CLUSTER", "SETSLOT", slot, "NODE", targetId);
    return moved;
  }

  private async runningMasters(): Promise<RedisServer[]> {
    const running = this.nodes.filter((node) => node.isRunning);
    const roles = await Promise.all(running.map(({ admin }) => admin.info("replication")));
    return running.filter((_, index) => roles[index]?.includes("role:master"));
  }

  /** The text of every error that the nodes have answered with so far, with its count, by its first word. */
  async errors(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { admin } of this.nodes.filter((node) => node.isRunning)) {
      for (const [, name = "", count = "0"] of (await admin.info("errorstats")).matchAll(
        /errorstat_(\w+):count=(\d+)/g,
      ))
        counts.set(name, (counts.get(name) ?? 0) + Number(count));
    }
    return counts;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.dispose()));
    this.place.remove();
  }
}

async function knownNodes({ admin }: RedisServer): Promise<number> {
  return Number(/cluster_known_nodes:(\d+)/.exec(String(await admin.cluster("INFO")))?.[1]);
}

/** How far its replication stream goes, bytes. */
async function offsetOf({ admin }: RedisServer): Promise<number> {
  return Number(/master_repl_offset:(\d+)/.exec(await admin.info("replication"))?.[1]);
}

async function idOf({ admin }: RedisServer): Promise<string> {
  return String(await admin.cluster("MYID"));
}
