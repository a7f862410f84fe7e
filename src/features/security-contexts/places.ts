/**
 * Places among the calls that run at once, kept in Redis for all nodes. What is taken and given back in one moment goes out
 * as one command; on a Cluster one for each tenant, whose sets share a slot.
 */
import { inBatches } from "../../store/batches.ts";
import { type RedisClient, replyInTime, slotGroupsOf } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";

/** A call, and the sets that it needs a place in. */
export interface PlacedCall {
  readonly tenant: string;
  /** Of this place. Those named `<line>/<id>` follow each other: the next one has the places of those before it. */
  readonly id: string;
  readonly keys: readonly string[];
  /** How many calls each set may hold. */
  readonly limits: readonly number[];
  /** How long it is held without being renewed, ms; absent: as long as any. */
  readonly leaseMs?: number;
}

export interface Places {
  /** @returns 0: it has its places, or keeps them; else the number of the first set that is full, from 1 */
  take(call: PlacedCall): Promise<number>;
  /** What `take` would say of another call; takes nothing. */
  look(call: PlacedCall): Promise<number>;
  /** Sent with what is taken next. Never rejects: what is not taken back comes free with the end of its lease. */
  giveBack(call: PlacedCall): Promise<void>;
}

interface Asked {
  readonly call: PlacedCall;
  readonly gives: boolean;
}

type Outcome = { readonly full: number } | { readonly failure: unknown };

/** Commands under way at once: while one is out the next one gathers. */
const limits = { rows: 128, statements: 2 };

/** @param leaseMs how long a place is held without being renewed @param unavailable what callers get while Redis is away */
export function createPlaces(redis: RedisClient, leaseMs: number, unavailable: () => Error): Places {
  const command = scriptCommand(redis, "lease-calls");
  const lineOf: (call: PlacedCall) => string = slotGroupsOf(redis) === 1 ? () => "" : ({ tenant }) => tenant;

  /** @param looks nothing is taken */
  async function run(asked: readonly Asked[], looks = false): Promise<readonly number[]> {
    const indexes = new Map<string, number>();
    const indexOf = (key: string): number => {
      const index = indexes.get(key) ?? indexes.size + 1;
      indexes.set(key, index);
      return index;
    };
    const given = asked.filter(({ gives }) => gives);
    const taken = asked.filter(({ gives }) => !gives);
    const values = [
      given.length,
      ...given.flatMap(({ call: { id, keys } }) => [id, keys.length, ...keys.map(indexOf)]),
      ...taken.flatMap(({ call: { id, keys, limits: most, leaseMs: ms = leaseMs } }) => {
        const sets = keys.flatMap((key, at) => [indexOf(key), most[at] ?? 0]);
        return [id, looks ? 0 : ms, keys.length, ...sets];
      }),
    ];
    return (await replyInTime(command([...indexes.keys()], values), unavailable)) as number[];
  }

  /** Cheaper than the script where nothing is taken. */
  async function remove(given: readonly Asked[]): Promise<readonly number[]> {
    const removals = given.flatMap(({ call: { id, keys } }) => keys.map((key) => redis.zrem(key, id)));
    await replyInTime(Promise.all(removals), unavailable);
    return [];
  }

  const gathered = inBatches(async (asked: readonly Asked[]): Promise<readonly Outcome[]> => {
    const outcomes = new Map<Asked, Outcome>();
    await Promise.all(
      [...Map.groupBy(asked, ({ call }) => lineOf(call)).values()].map(async (line) => {
        const taking = line.filter(({ gives }) => !gives);
        try {
          const found = await (taking.length === 0 ? remove(line) : run(line));
          for (const [at, one] of taking.entries()) outcomes.set(one, { full: Number(found[at]) });
        } catch (failure) {
          for (const one of taking) outcomes.set(one, { failure });
        }
      }),
    );
    return asked.map((one) => outcomes.get(one) ?? { full: 0 });
  }, limits);

  return {
    async take(call) {
      const outcome = await gathered({ call, gives: false });
      if ("failure" in outcome) throw outcome.failure;
      return outcome.full;
    },
    look: async (call) => Number((await run([{ call, gives: false }], true))[0]),
    async giveBack(call) {
      await gathered({ call, gives: true });
    },
  };
}
