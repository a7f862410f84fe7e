/**
 * What the capabilities of security contexts bound by number, counted in Redis for all nodes: calls in sliding windows, and
 * calls that run at once. Redis away means that nothing is let through: a bound that is not counted is none.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import { type Governing, refusedBy } from "../../../actors/policy/security/evaluate.ts";
import { concurrencyRefusal, type Refused, rateRefusal } from "../../../actors/policy/security/refusals.ts";
import { capabilityDefaults } from "../../../actors/policy/security/spec.ts";
import { repeatedly } from "../../lib/timers.ts";
import { openRedis, type RedisServers, replyInTime } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";
import { createPlaces, type PlacedCall } from "./places.ts";

/** Whose calls are counted together. */
export interface CountedFor {
  readonly tenant: string;
  /** The execution's id, or `<realm>/<sub>` of a caller without one. */
  readonly principal: string;
}

/** A call that its contexts allow. */
export interface CountedCall {
  readonly tool: string;
  readonly governing: readonly Governing[];
}

/** A place among the calls that run. */
export interface CallLease {
  /** Gives the place back, once. Never throws. */
  release(): void;
}

export interface CallCounters {
  /**
   * Counts calls in the windows of what governs them, in order; with one command for all, and none where no window is kept.
   * @returns per call why it is refused; null: it may run
   * @throws Problem 503 `service_unavailable` while Redis does not answer
   */
  debit(whose: CountedFor, calls: readonly CountedCall[]): Promise<(Refused | null)[]>;
  /** A place for a call that is about to run on this node, which renews it. @throws Problem 503 as `debit` */
  acquire(whose: CountedFor, call: CountedCall): Promise<CallLease | Refused>;
  /**
   * A place for a call that goes on without this node; the same again keeps it. Of calls that follow each other (see
   * `PlacedCall`) the last one has it.
   * @param leaseMs when it comes free by itself, at least as long as `acquire` holds one
   * @returns why it may not run now; null: it has its place @throws Problem 503 as `debit`
   */
  hold(whose: CountedFor, call: CountedCall, id: string, leaseMs: number): Promise<Refused | null>;
  /** Gives back what `hold` took, on any node. Never rejects. */
  free(whose: CountedFor, call: CountedCall, id: string): Promise<void>;
  /**
   * What `debit` and `acquire` would say now; counts nothing.
   * @returns `remaining` calls of the windows; null: none is kept
   * @throws Problem 503 as `debit`
   */
  peek(
    whose: CountedFor,
    call: CountedCall,
  ): Promise<{ readonly refused: Refused | null; readonly remaining: number | null }>;
  /** Calls of this node that hold a place. */
  running(): number;
  stop(): Promise<void>;
}

export interface CountersOptions {
  readonly redisServers: RedisServers;
  /** Of every key. */
  readonly prefix: string;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  /** Told when leases could not be renewed. */
  readonly warn: (error: unknown) => void;
  /** How long a place is held without being renewed, ms. */
  readonly leaseMs?: number;
}

/** After so long the places of a node that is gone are free again. */
const usualLeaseMs = 30_000;

export function openCallCounters(options: CountersOptions): CallCounters {
  const { redisServers, prefix, newId, warn, leaseMs = usualLeaseMs } = options;
  const redis = openRedis(redisServers);
  const debitCalls = scriptCommand(redis, "debit-calls");
  const places = createPlaces(redis, leaseMs, unavailable);
  /** By the place's id, those of calls that run here. */
  const held = new Map<string, PlacedCall>();

  /** All of a tenant's lie in one slot; a principal may hold any character. */
  const keyOf = ({ tenant, principal }: CountedFor, kind: "rate" | "runs", { context, index }: Governing, more = "") =>
    `${prefix}:calls:{${tenant}}:${kind}:${encodeURIComponent(principal)}:${context}:${index}${more}`;

  const windowsOf = (governing: readonly Governing[]) => governing.filter(({ capability }) => capability.rate_limit);

  async function windows(whose: CountedFor, calls: readonly (readonly Governing[])[], counting: boolean) {
    const keys = new Map<string, number>();
    const input = calls.map((governing) =>
      governing.map((one) => {
        const { calls, per_seconds } = one.capability.rate_limit ?? { calls: 0, per_seconds: 0 };
        const key = keyOf(whose, "rate", one, `:${per_seconds}`);
        const index = keys.get(key) ?? keys.size + 1;
        keys.set(key, index);
        return [index, calls, per_seconds * 1000];
      }),
    );
    const command = debitCalls([...keys.keys()], [counting ? 1 : 0, JSON.stringify(input)]);
    return JSON.parse(String(await replyInTime(command, unavailable))) as [number, number, number][];
  }

  const refusalBy = (tool: string, kept: readonly Governing[], [place, ms]: readonly [number, number, number]) => {
    const by = kept[place - 1];
    return by === undefined ? null : rateRefusal(tool, refusedBy(by), Math.max(1, Math.ceil(ms / 1000)));
  };

  const placedBy = (whose: CountedFor, { governing }: CountedCall, id: string): PlacedCall => ({
    tenant: whose.tenant,
    id,
    keys: governing.map((one) => keyOf(whose, "runs", one)),
    limits: governing.map(({ capability }) => capability.max_concurrent ?? capabilityDefaults.max_concurrent),
  });

  /** @param full as `Places.take` says it */
  function refusalAt(full: number, { tool, governing }: CountedCall, { limits }: PlacedCall): Refused | null {
    const by = governing[full - 1];
    return by === undefined ? null : concurrencyRefusal(tool, refusedBy(by), limits[full - 1] ?? 0);
  }

  async function release(id: string): Promise<void> {
    const place = held.get(id);
    if (held.delete(id) && place !== undefined) await places.giveBack(place);
  }

  const renewing = repeatedly(
    leaseMs / 3,
    async () => {
      // A place that was lost with Redis is taken again: its call runs.
      await Promise.all(
        [...held.values()].map(async (place) => {
          await places.take(place);
          if (!held.has(place.id)) await places.giveBack(place);
        }),
      );
    },
    warn,
  );

  return {
    async debit(whose, calls) {
      const kept = calls.map(({ governing }) => windowsOf(governing));
      if (kept.every((windows) => windows.length === 0)) return calls.map(() => null);
      const found = await windows(whose, kept, true);
      return calls.map(({ tool }, at) => refusalBy(tool, kept[at] ?? [], found[at] ?? [0, 0, 0]));
    },
    async acquire(whose, call) {
      const place = placedBy(whose, call, newId());
      const refused = refusalAt(await places.take(place), call, place);
      if (refused !== null) return refused;
      held.set(place.id, place);
      return { release: () => void release(place.id) };
    },
    async hold(whose, call, id, wantedMs) {
      const place = { ...placedBy(whose, call, id), leaseMs: Math.ceil(Math.max(leaseMs, wantedMs)) };
      return refusalAt(await places.take(place), call, place);
    },
    free: (whose, call, id) => places.giveBack(placedBy(whose, call, id)),
    async peek(whose, call) {
      const kept = windowsOf(call.governing);
      const place = placedBy(whose, call, "");
      const [[found], at] = await Promise.all([
        kept.length === 0 ? [] : windows(whose, [kept], false),
        places.look(place),
      ]);
      const full = refusalAt(at, call, place);
      if (found === undefined) return { refused: full, remaining: null };
      return { refused: refusalBy(call.tool, kept, found) ?? full, remaining: found[2] };
    },
    running: () => held.size,
    async stop() {
      await renewing();
      await Promise.all([...held.keys()].map(release));
      redis.disconnect();
    },
  };
}

const unavailable = () =>
  new Problem("service_unavailable", "The bounds of tool calls cannot be checked now", {}, { "Retry-After": "1" });
