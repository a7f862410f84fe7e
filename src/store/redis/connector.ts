/** Connects to whichever node of a Cluster answers: for subscriptions, which any node serves. */
import { lookup } from "node:dns/promises";
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector } from "ioredis";
import type { ClusterServers, RedisLimits } from "./servers.ts";

/** How long a closed connection may take to end before it is cut, ms. */
const disconnectMs = 2000;

/** A connector, as the client's option takes it, that tries another node at each attempt. */
export function anyNodeConnector({ cluster, tls, ca }: ClusterServers & RedisLimits) {
  // Nodes of the service do not all subscribe at the same one.
  let next = Math.floor(Math.random() * cluster.length);
  return class extends AbstractConnector {
    constructor() {
      super(disconnectMs);
    }

    async connect() {
      this.connecting = true;
      const node = cluster[next++ % cluster.length];
      if (node === undefined) throw new Error("REDIS_CLUSTER names no node");
      // A name may stand for all nodes.
      const addresses = await lookup(node.host, { all: true }).catch(() => []);
      // The name itself where it is unknown, so that connecting fails: a rejection here would end the client for good.
      const { address } = addresses[Math.floor(Math.random() * addresses.length)] ?? { address: node.host };
      const socket = tls
        ? connectTls({ host: address, port: node.port, servername: node.host, ...(ca === undefined ? {} : { ca }) })
        : connectTcp({ host: address, port: node.port });
      socket.once("error", (error) => {
        this.firstError = error;
      });
      this.stream = socket;
      // Closed meanwhile.
      if (!this.connecting) socket.destroy();
      return socket;
    }
  };
}
