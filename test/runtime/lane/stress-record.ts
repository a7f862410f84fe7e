/** What was sent, and what of it the stores must say in the end. */
import { runtimeKeys } from "../../../src/runtime/mailbox/partition.ts";
import { openRedis, slotGroupsOf } from "../../../src/store/redis/connections.ts";
import type { TestStores } from "../../harness/stores.ts";
import type { StressState, Take } from "./stress-actor.ts";

/** Names are `<receiver> <sender>`; the sender of an effect is the way it took (`wayOf`). */
export class StressRecord {
  private readonly accepted = new Map<string, Set<number>>();
  /** Those whose sender does not know whether they were accepted. */
  private readonly doubtful = new Map<string, Set<number>>();
  /** Those that must become dead letters, as `<name> <number>`. */
  private readonly condemned = new Set<string>();

  /**
   * @param mayReorder whether Redis may lose messages: those that were told are sent again, perhaps behind later ones
   */
  constructor(
    private readonly stores: TestStores,
    readonly mayReorder: boolean,
  ) {}

  accept(name: string, n: number): void {
    note(this.accepted, name, n);
  }

  doubt(name: string, n: number): void {
    note(this.doubtful, name, n);
  }

  condemn(name: string, n: number): void {
    this.condemned.add(`${name} ${n}`);
  }

  /** What is not as it must be, or not yet. */
  async faults(): Promise<readonly string[]> {
    const { sql } = this.stores;
    const rows = await sql<{ key: string; state: string }[]>`
      select key, state from runtime_actors where kind = 'stress'`;
    const states = new Map(rows.map(({ key, state }) => [key, JSON.parse(state) as StressState]));
    const found = await sql<{ key: string; body: string; error: string }[]>`
      select key, body, error from runtime_dead_letters`;
    const letters = Map.groupBy(found, ({ key, body }) => {
      const { from, n } = JSON.parse(body) as Take;
      return `${key} ${from} ${n}`;
    });
    return [
      ...this.faultsOfLetters(letters, states),
      ...this.faultsOfSenders(states, letters),
      ...[...states].flatMap(([key, state]) => faultsOfTimers(key, state)),
      ...[...states.values()].flatMap((state) => this.faultsOfEffects(state, states, letters)),
      ...(await this.leftovers()),
    ];
  }

  private faultsOfLetters(letters: Letters, states: ReadonlyMap<string, StressState>): string[] {
    const faults: string[] = [];
    for (const [name, rows] of letters) {
      if (rows.length > 1) faults.push(`${rows.length} letters of ${name}`);
      // Connections die at random, perhaps three times in a row with the same message.
      const isHealthy = !this.condemned.has(name) && !rows.every(({ error }) => /died 3 times/.test(error));
      if (isHealthy) faults.push(`letter of healthy ${name}: ${rows[0]?.error}`);
      const [key = "", ...rest] = name.split(" ");
      const n = Number(rest.pop());
      if (states.get(key)?.taken[rest.join(" ")]?.includes(n)) faults.push(`${name} was taken and is a letter`);
    }
    return faults;
  }

  private faultsOfSenders(states: ReadonlyMap<string, StressState>, letters: Letters): string[] {
    const faults: string[] = [];
    for (const [name, numbers] of this.accepted) {
      const [key = "", from = ""] = name.split(" ");
      const taken = new Set(states.get(key)?.taken[from]);
      const lost = [...numbers].filter((n) => !taken.has(n) && !letters.has(`${name} ${n}`));
      if (lost.length > 0) faults.push(`accepted and not taken of ${name}: ${lost}`);
    }
    for (const [key, { taken }] of states) {
      for (const [from, numbers] of Object.entries(taken)) {
        if (from.includes(" ")) continue;
        const name = `${key} ${from}`;
        faults.push(...faultsOfOrder(name, numbers, this.mayReorder));
        const unsent = numbers.filter((n) => !this.accepted.get(name)?.has(n) && !this.doubtful.get(name)?.has(n));
        if (unsent.length > 0) faults.push(`refused and taken of ${name}: ${unsent}`);
      }
    }
    return faults;
  }

  /** Each exactly once, and those by way of the outbox in order. */
  private faultsOfEffects({ told }: StressState, states: ReadonlyMap<string, StressState>, letters: Letters): string[] {
    const faults: string[] = [];
    for (const [name, count] of Object.entries(told)) {
      const [to = "", ...way] = name.split(" ");
      const numbers = states.get(to)?.taken[way.join(" ")] ?? [];
      faults.push(...faultsOfOrder(name, numbers, this.mayReorder || name.endsWith("beside")));
      const taken = new Set(numbers);
      const lost = upTo(count).filter((n) => !taken.has(n) && !letters.has(`${name} ${n}`));
      if (lost.length > 0) faults.push(`effects not taken of ${name}: ${lost}`);
      if (numbers.some((n) => n > count)) faults.push(`effects never committed of ${name}: ${numbers}`);
    }
    return faults;
  }

  private async leftovers(): Promise<string[]> {
    const { sql, redisServers, redisUrl, prefix } = this.stores;
    const tables = ["runtime_outbox", "runtime_timers", "runtime_parked", "runtime_inbox", "runtime_activities"];
    // A note stays where Redis lost a message that was asked and whose number it waits for.
    if (!this.mayReorder) tables.push("runtime_received_ahead");
    const faults: string[] = [];
    for (const table of tables) {
      const [row] = await sql<[{ count: number }]>`select count(*)::int as count from ${sql(table)}`;
      if (row.count > 0) faults.push(`${row.count} rows of ${table}`);
    }
    const redis = openRedis(redisServers ?? redisUrl);
    const keys = runtimeKeys(prefix, slotGroupsOf(redis));
    const rows = await sql<{ partition: number; position: string }[]>`
      select partition, mailbox_offset as position from runtime_partitions`;
    for (const { partition, position } of rows) {
      const waiting = await redis.xrange(keys.mailbox(partition), `(${position}`, "+", "COUNT", 1);
      if (waiting.length > 0) faults.push(`messages behind the position of ${partition}`);
    }
    redis.disconnect();
    return faults;
  }
}

type Letters = ReadonlyMap<string, readonly { readonly error: string }[]>;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

function note(notes: Map<string, Set<number>>, name: string, n: number): void {
  const numbers = notes.get(name) ?? new Set();
  numbers.add(n);
  notes.set(name, numbers);
}

function faultsOfOrder(name: string, numbers: readonly number[], mayReorder: boolean): string[] {
  const doubled = new Set(numbers).size < numbers.length ? numbers.filter((n, at) => numbers.indexOf(n) < at) : [];
  if (doubled.length > 0) return [`taken more than once of ${name}: ${doubled}`];
  const at = mayReorder ? -1 : numbers.findIndex((n, index) => index > 0 && n < (numbers[index - 1] as number));
  return at > 0 ? [`out of order of ${name}: ${numbers[at - 1]} before ${numbers[at]}`] : [];
}

function faultsOfTimers(key: string, { timersSet, timersFired }: StressState): string[] {
  const isRight = timersFired.toSorted((left, right) => left - right).join() === upTo(timersSet).join();
  return isRight ? [] : [`timers of ${key}: ${timersSet} set, fired ${timersFired}`];
}
