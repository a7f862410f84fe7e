/** Two nodes with random messages of all sizes while their stores fail them. */
import type { Json } from "../../../actors/kernel/json.ts";
import { AskTimeout, MailboxFull } from "../../../src/runtime/index.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { StoreProxy } from "../../faults/proxy.ts";
import { startTestNode, type TestNode } from "../../harness/runtime/runtime.ts";
import type { TestStores } from "../../harness/stores.ts";
import { largest, stressActor, stressAt, type Take, textOf } from "./stress-actor.ts";
import { StressRecord } from "./stress-record.ts";

const disturbances = [
  "refusals",
  "epochs",
  "cuts",
  "unanswered",
  "ends",
  "stalls",
  "handover",
  "frozen",
  "flush",
  "redis",
] as const;
type Disturbance = (typeof disturbances)[number];

export interface StressOptions {
  readonly seed: number;
  readonly messages: number;
}

/** Numbers from 0 to below 1; the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Sender {
  readonly node: TestNode;
  readonly proxy: StoreProxy;
  readonly redisProxy: StoreProxy;
  readonly name: string;
  /** By receiver, the number of the last message. */
  readonly last: Map<string, number>;
}

const flushing = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('UNLINK', key) end";
const partitions = 8;
const hot = "acme-hot";

export class Stress {
  private readonly random: () => number;
  private senders: Sender[] = [];
  private nextSender = 0;
  private readonly record: StressRecord;
  private readonly asked: Promise<unknown>[] = [];
  /** What happened, and when, by the monotonic clock. */
  private readonly log: string[] = [];
  private readonly disturbances: readonly Disturbance[];

  constructor(
    private readonly stores: TestStores,
    private readonly options: StressOptions,
  ) {
    this.random = randomOf(options.seed);
    // A message that was told is lost where its node is gone and then Redis loses it.
    // The keys of a Cluster cannot go at one moment.
    const left = stores.redisServers === undefined && this.chance(0.3) ? "handover" : "flush";
    this.disturbances = disturbances.filter((one) => one !== left && (one === "refusals" || this.chance(0.6)));
    this.record = new StressRecord(stores, this.disturbances.includes("flush"));
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  private pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  async begin(): Promise<void> {
    const { sql } = this.stores;
    await sql.unsafe(`
      create table stress_refusals (share real not null);
      insert into stress_refusals values (0);
      create function stress_refuse() returns trigger language plpgsql as $$
      begin
        if exists (select 1 from changed where state like '%"isRefused":true%') then
          raise exception 'refused' using errcode = '22000';
        end if;
        if (select count(*) from changed) > 1 and random() < (select share from stress_refusals) then
          raise exception 'refused together' using errcode = (array['22003', '23514', '54000'])[1 + floor(random() * 3)::int];
        end if;
        return null;
      end $$;
      create trigger stress_insert after insert on runtime_actors
        referencing new table as changed for each statement execute function stress_refuse();
      create trigger stress_update after update on runtime_actors
        referencing new table as changed for each statement execute function stress_refuse();`);
    this.senders = [await this.startSender(), await this.startSender()];
  }

  private async startSender(): Promise<Sender> {
    const url = new URL(this.stores.databaseUrl);
    url.searchParams.set("application_name", this.stores.schema);
    const [proxy, redisProxy] = await Promise.all([url.href, this.stores.redisUrl].map((one) => StoreProxy.to(one)));
    if (proxy === undefined || redisProxy === undefined) throw new Error("unreachable: two proxies");
    const mailboxLimit = this.options.seed % 4 === 0 ? 400 : 100_000;
    const node = await startTestNode(
      { ...this.stores, databaseUrl: proxy.url, redisUrl: redisProxy.url },
      {
        actors: [stressActor],
        partitions,
        mailboxLimit,
        cachedActors: 12,
        actorIdleMs: 200,
        log: (event, facts) => {
          this.happens(`${event} ${JSON.stringify(facts).slice(0, 200)}`);
        },
      },
    );
    return { node, proxy, redisProxy, name: `s${this.nextSender++}`, last: new Map() };
  }

  /** Sends everything, one after the other of each sender and receiver, with disturbances in between. */
  async run(): Promise<void> {
    let sent = 0;
    let isOver = false;
    const { messages } = this.options;
    const sending = (async () => {
      while (sent < messages) {
        const sender = this.pick(this.senders);
        const burst = this.chance(0.08) ? 40 + this.below(400) : 1 + this.below(12);
        const isHot = burst > 12;
        for (let index = 0; index < burst; index++) this.send(sender, isHot && this.chance(0.8) ? hot : this.key());
        sent += burst;
        await Bun.sleep(this.below(30));
      }
      isOver = true;
    })();
    while (!isOver) {
      await Bun.sleep(this.below(300));
      if (this.disturbances.length > 0) await this.disturb(this.pick(this.disturbances));
    }
    await sending;
    await Promise.allSettled(this.asked);
    await this.refuse(0);
  }

  private bodyOf(key: string, from: string, n: number): Take {
    const isHot = key === hot;
    const dice = this.random();
    const size = this.sizeOr(isHot ? 0.005 : 0.06);
    const weight = this.sizeOr(isHot ? 0.002 : 0.02);
    const told = this.chance(0.25) ? [this.told(key)] : this.chance(0.1) ? [this.told(key), this.told(key)] : [];
    return {
      from,
      n,
      ...(size === null ? {} : { size }),
      ...(weight === null ? {} : { load: textOf(weight) }),
      ...(told.length === 0 ? {} : { tells: told }),
      ...(this.chance(0.05) ? { timerMs: this.below(1500) } : {}),
      ...(dice < 0.004 ? { fault: "throws" as const } : dice < 0.008 ? { fault: "refused" as const } : {}),
    };
  }

  private sizeOr(share: number): number | null {
    if (!this.chance(share)) return this.chance(0.5) ? this.below(2000) : null;
    return this.chance(0.1) ? largest : this.pick([140_000, 140_000, 200_000, 400_000, 800_000]);
  }

  /** Actors of two tenants; a hot one is of the first. */
  private key(tenant = this.pick(["acme", "acme", "umbrella"])): string {
    return `${tenant}-${this.below(tenant === "acme" ? 20 : 10)}`;
  }

  private told(from: string): NonNullable<Take["tells"]>[number] {
    const tenant = tenantOf(from);
    const isFan = from !== hot && tenant === "acme" && this.chance(0.02);
    return {
      key: isFan || (tenant === "acme" && this.chance(0.1)) ? hot : this.key(tenant),
      beside: this.chance(0.4),
      count: isFan ? 300 : 1 + this.below(3),
      // A large state under so many messages would only take long.
      ...(isFan ? { size: 10 } : this.chance(0.03) ? { size: this.pick([150_000, 600_000, 10]) } : {}),
      ...(!isFan && this.chance(0.02) ? { weight: 150_000 } : {}),
      ...(!isFan && this.chance(0.2) ? { then: this.key(tenant) } : {}),
    };
  }

  private send(sender: Sender, key: string): void {
    const n = (sender.last.get(key) ?? 0) + 1;
    sender.last.set(key, n);
    const from = sender.name;
    const body = this.bodyOf(key, from, n);
    const name = `${key} ${from}`;
    const { runtime } = sender.node;
    const to = stressAt(key, tenantOf(key));
    const message = body as Json;
    if (body.fault !== undefined) this.record.condemn(name, n);
    const sent = this.chance(0.5)
      ? runtime.ask(to, "take", message, { deadlineMs: 10_000 })
      : runtime.tell(to, "take", message);
    const settled = sent.then(
      () => this.record.accept(name, n),
      (error: unknown) => {
        // One whose answer did not come stood in a mailbox.
        if (error instanceof AskTimeout && !this.record.mayReorder) this.record.accept(name, n);
        else if (!(error instanceof MailboxFull)) this.record.doubt(name, n);
      },
    );
    this.asked.push(settled);
  }

  private happens(what: string): void {
    this.log.push(`${Math.round(performance.now())} ${what}`);
  }

  private async refuse(share: number): Promise<void> {
    await this.stores.sql`update stress_refusals set share = ${share}`;
  }

  private async disturb(what: Disturbance): Promise<void> {
    const { sql, schema } = this.stores;
    this.happens(what);
    const { proxy, redisProxy } = this.pick(this.senders);
    switch (what) {
      case "refusals":
        return this.refuse(this.chance(0.5) ? 0 : this.random() * 0.6);
      case "epochs":
        await sql`update runtime_partitions set epoch = epoch + 1, sources = 'take' where partition = ${this.below(partitions)}`;
        return;
      case "cuts":
        return proxy.cut();
      case "unanswered":
        return proxy.cutBeforeAnswer();
      case "ends":
        await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = ${schema} and random() < 0.5`;
        return;
      case "stalls":
        // Commits of one partition wait, and lines become long behind them.
        await sql.begin(async (tx) => {
          await tx`select 1 from runtime_partitions where partition = ${this.below(partitions)} for update`;
          await Bun.sleep(100 + this.below(400));
        });
        return;
      case "handover": {
        const index = this.below(this.senders.length);
        const former = this.senders[index] as Sender;
        this.senders[index] = await this.startSender();
        await stop(former);
        return;
      }
      case "redis":
        return this.chance(0.5) ? redisProxy.cut() : redisProxy.cutBeforeAnswer();
      case "frozen":
        proxy.hold();
        await Bun.sleep(500 + this.below(2500));
        proxy.release();
        return;
      case "flush":
        await this.flush();
        // Noticed within a second; what is told in between is sent again.
        await Bun.sleep(1500);
    }
  }

  /** All keys at one moment: what says that nothing was flushed must not go before the rest. */
  private async flush(): Promise<void> {
    const redis = openRedis(this.stores.redisUrl);
    await redis.eval(flushing, 0, `*${this.stores.prefix}*`);
    redis.disconnect();
  }

  /** What is not as it must be, or not yet. */
  faults(): Promise<readonly string[]> {
    return this.record.faults();
  }

  /** What the nodes and stores are at, for a run that does not end. */
  async describe(): Promise<unknown> {
    const { sql, schema } = this.stores;
    const [partitions, activity, outbox, ahead] = await Promise.all([
      sql`select partition, owner, epoch, mailbox_offset from runtime_partitions order by 1`,
      sql`select pid, state, wait_event_type, wait_event, now() - query_start as since, left(query, 60) as query from pg_stat_activity where application_name = ${schema}`,
      sql`select partition, target, count(*)::int, min(seq), max(seq) from runtime_outbox group by 1, 2 limit 20`,
      sql`select partition, source, count(*)::int from runtime_received_ahead group by 1, 2 limit 20`,
    ]);
    const nodes = await Promise.all(
      this.senders.map(async ({ node, name }) => ({
        name,
        id: node.runtime.nodeId,
        status: await node.runtime.status(),
        busy: node.runtime.busyMs(),
        counts: node.runtime.counts(),
      })),
    );
    return {
      nodes,
      partitions: [...partitions],
      activity: [...activity],
      outbox: [...outbox],
      ahead: [...ahead],
      log: this.log.slice(-60),
    };
  }

  async end(): Promise<void> {
    await Promise.all(this.senders.splice(0).map(stop));
  }
}

async function stop({ node, proxy, redisProxy }: Sender): Promise<void> {
  await node.stop();
  for (const one of [proxy, redisProxy]) one.close();
}

const tenantOf = (key: string): string => key.split("-")[0] as string;
