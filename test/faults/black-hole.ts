/**
 * Stores behind a network that can swallow every packet, in both directions and in silence: a network namespace of the
 * test's own. Where that is not permitted, a proxy that stops reading stands in.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOrInstall } from "../../src/lib/processes/system-package.ts";
import { StoreProxy } from "./proxy.ts";

export interface BlackHole {
  /** The stores' addresses by way of this network. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** How packets are lost: in a namespace, or by a proxy that stops reading. */
  readonly kind: "namespace" | "proxy";
  open(): Promise<void>;
  close(): Promise<void>;
  dispose(): Promise<void>;
}

interface Urls {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

export async function blackHole(stores: Urls): Promise<BlackHole> {
  return (await inNamespace(stores).catch(() => null)) ?? (await byProxy(stores));
}

async function byProxy({ databaseUrl, redisUrl }: Urls): Promise<BlackHole> {
  const proxies = await Promise.all([StoreProxy.to(databaseUrl), StoreProxy.to(redisUrl)]);
  const [database, redis] = proxies;
  return {
    databaseUrl: database.url,
    redisUrl: redis.url,
    kind: "proxy",
    open: async () => proxies.forEach((proxy) => void proxy.hold()),
    close: async () => proxies.forEach((proxy) => void proxy.release()),
    dispose: async () => proxies.forEach((proxy) => void proxy.close()),
  };
}

const root = process.getuid?.() === 0;
const path = `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
const programOf = (program: string, apt: string) =>
  findOrInstall({ program, packages: { apt, brew: null }, path, root, log: (line) => console.error(line) });

async function run(...command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdio: ["ignore", "ignore", "ignore"], env: { ...process.env, PATH: path } });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}

/** @throws where namespaces are not permitted */
async function inNamespace({ databaseUrl, redisUrl }: Urls): Promise<BlackHole> {
  if (!root || (await programOf("ip", "iproute2")) === null || (await programOf("nft", "nftables")) === null) {
    throw new Error("not permitted");
  }
  const mark = Math.floor(Math.random() * 65_536);
  const name = `svc-hole-${mark}`;
  const [near, far] = [`svch${mark}`, `svcf${mark}`];
  // Of the range for benchmarks (RFC 2544), which no real network uses.
  const subnet = `198.${18 + (mark & 1)}.${mark >> 8}`;
  const base = (mark & 0xfc) % 248;
  const folder = mkdtempSync(join(tmpdir(), "svc-hole-"));
  const servers: Server[] = [];
  let child: Bun.Subprocess | null = null;
  const dispose = async () => {
    child?.kill("SIGKILL");
    await child?.exited;
    for (const server of servers) server.close();
    await run("ip", "netns", "del", name).catch(() => {});
    await run("ip", "link", "del", near).catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await run("ip", "netns", "add", name);
    await run("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", name);
    await run("ip", "addr", "add", `${subnet}.${base + 1}/30`, "dev", near);
    await run("ip", "link", "set", near, "up");
    await run("ip", "-n", name, "addr", "add", `${subnet}.${base + 2}/30`, "dev", far);
    await run("ip", "-n", name, "link", "set", far, "up");
    const sockets = [databaseUrl, redisUrl].map((url, at) => {
      const { hostname, port } = new URL(url);
      const socket = join(folder, String(at));
      const server = createServer((near) => {
        const store = connect(Number(port), hostname);
        for (const one of [near, store]) {
          one.on("error", () => {});
          one.on("close", () => {
            near.destroy();
            store.destroy();
          });
        }
        near.pipe(store);
        store.pipe(near);
      });
      servers.push(server.listen(socket));
      return socket;
    });
    const ports = ["15432", "16379"];
    const program = join(import.meta.dir, "black-hole-program.ts");
    const args = ports.flatMap((port, at) => [port, String(sockets[at])]);
    const started = Bun.spawn(["ip", "netns", "exec", name, process.execPath, program, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, PATH: path },
    });
    child = started;
    for await (const chunk of started.stdout) if (Buffer.from(chunk).includes("ready")) break;
    const through = (url: string, port: string) => {
      const moved = new URL(url);
      moved.hostname = `${subnet}.${base + 2}`;
      moved.port = port;
      return moved.href;
    };
    const nft = (rules: string) => run("ip", "netns", "exec", name, "nft", rules);
    return {
      databaseUrl: through(databaseUrl, "15432"),
      redisUrl: through(redisUrl, "16379"),
      kind: "namespace",
      open: () =>
        nft(
          "add table inet hole; add chain inet hole in { type filter hook input priority 0; policy drop; }; add chain inet hole out { type filter hook output priority 0; policy drop; }",
        ),
      close: () => nft("delete table inet hole"),
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
