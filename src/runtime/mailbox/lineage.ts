/**
 * Whether Redis still is what it was. A server that was started anew, replaced or failed over may have lost its last
 * writes, one that was flushed has lost all: then the messages and replies that only it held are sent again.
 *
 * What it is known by: the run id and the replication id of each server that takes writes, and a key of ours. One more
 * server says nothing: the client of a Cluster learns of its masters one after the other, and a slot that moves to a
 * new one takes its keys along. One fewer may mean a fail-over.
 */
import { Redis } from "ioredis";
import { primariesOf, type RedisClient } from "../../store/redis/connections.ts";

export interface LineageOptions {
  readonly redis: RedisClient;
  /** Of the key that says that nothing was flushed, one in each slot group. */
  readonly keys: readonly string[];
  readonly newId: () => string;
  /** Called when something may be lost; once for each change. */
  lost(): void;
}

/** How often it is looked at, ms. */
const lookEveryMs = 1000;
/**
 * Of these looks one in so many asks the server who it is, where there is but one: another server comes with another
 * connection, which is asked at once. The masters of a Cluster change behind the client's back.
 */
const identityEvery = 4;

export class Lineage {
  private known: ReadonlySet<string> | null = null;
  /** As last heard, and looks since then. */
  private identity: readonly string[] = [];
  private looks = Number.POSITIVE_INFINITY;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private looking: Promise<void> | null = null;
  private stopped = false;

  constructor(private readonly options: LineageOptions) {
    options.redis.on("ready", () => {
      this.looks = Number.POSITIVE_INFINITY;
      void this.look();
    });
  }

  async start(): Promise<void> {
    await this.look();
    this.plan();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private plan(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.look().finally(() => this.plan()), lookEveryMs);
    this.timer.unref();
  }

  private look(): Promise<void> {
    this.looking ??= this.lookOnce()
      // Redis is away: there is another look.
      .catch(() => {})
      .finally(() => {
        this.looking = null;
      });
    return this.looking;
  }

  private async lookOnce(): Promise<void> {
    const { redis } = this.options;
    // The client of a Cluster that connects knows no master: what is not known now would not be missed later.
    if (primariesOf(redis).length === 0) await redis.ping();
    const [servers, epochs] = await Promise.all([
      this.servers(),
      Promise.all(this.options.keys.map((key) => this.epoch(key))),
    ]);
    const found = new Set([...servers, ...epochs.map((epoch, group) => `${group} ${epoch}`)]);
    const before = this.known;
    this.known = found;
    if (before !== null && [...before].some((one) => !found.has(one)) && !this.stopped) this.options.lost();
  }

  private async servers(): Promise<readonly string[]> {
    if (this.options.redis instanceof Redis && ++this.looks < identityEvery) return this.identity;
    this.identity = await this.askServers();
    this.looks = 0;
    return this.identity;
  }

  private async askServers(): Promise<string[]> {
    const known = await Promise.all(
      primariesOf(this.options.redis).map(async (server) => {
        const about = await server.info("server", "replication");
        // The client of a Cluster takes each node that it was given for a master until it is told.
        if (field(about, "role") !== "master") return null;
        return `${field(about, "run_id")} ${field(about, "master_replid")}`;
      }),
    );
    return known.filter((one) => one !== null);
  }

  /** The key's value; a new one where it is gone. */
  private async epoch(key: string): Promise<string> {
    const { redis, newId } = this.options;
    const fresh = newId();
    return (await redis.set(key, fresh, "NX", "GET")) ?? fresh;
  }
}

const field = (info: string, name: string): string => new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim() ?? "";
