/** A TCP proxy between a node and a store: what the network may do to them, on demand. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { until } from "../harness/until.ts";

interface Link {
  readonly client: Socket;
  readonly store: Socket;
  /** What each side sent while held back. */
  readonly toStore: Buffer[];
  readonly toClient: Buffer[];
}

export class StoreProxy {
  private readonly links = new Set<Link>();
  private readonly frozen = new WeakSet<Link>();
  private holding = false;
  private muted = false;
  private refusing = false;
  private stranding = false;
  private swallowed = 0;

  private constructor(
    private readonly server: Server,
    /** The store's address by way of this proxy. */
    readonly url: string,
  ) {}

  /** A proxy to the store at `url`. */
  static async to(url: string): Promise<StoreProxy> {
    const target = new URL(url);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
    const through = new URL(url);
    through.port = String(address.port);
    const proxy = new StoreProxy(server, through.href);
    server.on("connection", (client) => proxy.link(client, Number(target.port)));
    return proxy;
  }

  private link(client: Socket, port: number): void {
    if (this.refusing) {
      client.destroy();
      return;
    }
    const store = connect(port, "127.0.0.1");
    const link: Link = { client, store, toStore: [], toClient: [] };
    this.links.add(link);
    client.on("data", (chunk: Buffer) => {
      if (this.frozen.has(link)) return;
      if (this.holding) link.toStore.push(chunk);
      else store.write(chunk);
    });
    store.on("data", (chunk: Buffer) => {
      if (this.frozen.has(link)) return;
      if (this.muted) this.swallowed += chunk.length;
      else if (this.holding) link.toClient.push(chunk);
      else client.write(chunk);
    });
    const close = () => {
      client.destroy();
      if (this.stranding) return;
      store.destroy();
      this.links.delete(link);
    };
    for (const socket of [client, store]) {
      socket.on("error", close);
      socket.on("close", close);
    }
  }

  /** Connections that are open. */
  get connections(): number {
    return this.links.size;
  }

  /** From now on what node and store send each other waits here. */
  hold(): void {
    this.holding = true;
  }

  /** The connections of now carry nothing any more, in silence; later ones do. */
  freeze(): void {
    for (const link of this.links) this.frozen.add(link);
  }

  /** Whether something that the node sent and that waits here contains this text. */
  holds(text: string): boolean {
    return [...this.links].some(({ toStore }) => Buffer.concat(toStore).includes(text));
  }

  /** Connections that the node has lost and the store has not closed yet. */
  get stranded(): number {
    return [...this.links].filter(({ client }) => client.destroyed).length;
  }

  /** What waited goes on its way; after it the store hears that a connection was lost. */
  release(): void {
    this.holding = false;
    for (const { client, store, toStore, toClient } of this.links) {
      for (const chunk of toStore.splice(0)) store.write(chunk);
      if (client.destroyed) store.end();
      else for (const chunk of toClient.splice(0)) client.write(chunk);
    }
  }

  /** The node loses its connections, but what it had sent is still on its way until `release`. */
  async strand(): Promise<void> {
    this.stranding = true;
    const stranded = [...this.links];
    this.links.clear();
    this.holding = false;
    await Promise.all(stranded.map(({ client }) => new Promise((resolve) => client.once("close", resolve).destroy())));
    this.stranding = false;
    for (const link of stranded) this.links.add(link);
  }

  /** Breaks every connection and lets none come until `accept`. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  accept(): void {
    this.refusing = false;
  }

  /** Breaks every connection. */
  cut(): void {
    for (const { client, store } of [...this.links]) {
      client.destroy();
      store.destroy();
    }
  }

  /** The store acts on what is under way, but its answers never arrive; then the connections break. */
  async cutBeforeAnswer(): Promise<void> {
    this.swallowed = 0;
    this.muted = true;
    await until(() => this.swallowed > 0, { what: "the store to answer" });
    this.cut();
    this.muted = false;
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}
