/**
 * Load with a memory: sends labelled messages through every responsive node, remembers which were
 * accepted, and afterwards compares that with what the stores say.
 */
import { expect } from "bun:test";
import type { Json } from "../../actors/kernel/json.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";
import { until } from "../harness/until.ts";
import type { Cluster, NodeProcess } from "./cluster.ts";

/** What must have happened exactly once if its message was accepted, and at most once otherwise. */
interface Expected {
  readonly key: string;
  readonly what: "seen" | "noted" | "worked";
  readonly label: string;
}

interface State {
  readonly count: number;
  readonly seen: readonly string[];
  readonly outcomes: readonly string[];
}

const senders = 8;
const pauseMs = 3;
const keys = Array.from({ length: 24 }, (_, index) => `key-${index}`);

export class Load {
  private readonly accepted: Expected[] = [];
  private readonly inDoubt: Expected[] = [];
  private readonly running: Promise<void>[] = [];
  private stopping = false;
  private next = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly sql: Sql,
  ) {
    this.resume();
  }

  resume(): void {
    this.stopping = false;
    for (let sender = 0; sender < senders; sender++) this.running.push(this.send(sender));
  }

  /** Sends nothing more until `resume`; resolves when everything sent is decided. */
  async pause(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running.splice(0));
  }

  /** What was accepted after `acceptedCount` was this may be lost, but not doubled. */
  forgive(after: number): void {
    this.inDoubt.push(...this.accepted.splice(after));
  }

  /** Messages accepted so far. */
  get acceptedCount(): number {
    return this.accepted.length;
  }

  /** Waits until as many more messages were accepted: by then the cluster works again. */
  async more(count: number, timeoutMs = 20_000): Promise<void> {
    const goal = this.accepted.length + count;
    await until(() => this.accepted.length >= goal, { what: `${count} more messages accepted`, timeoutMs });
  }

  /** Counts what the test sent itself as accepted; to keys that begin with `key-`, as those of the load do. */
  alsoSent(...sent: readonly Expected[]): void {
    this.accepted.push(...sent);
  }

  private async send(sender: number): Promise<void> {
    while (!this.stopping) {
      const nodes = this.cluster.responsive;
      const number = this.next++;
      const node = nodes[number % nodes.length];
      // Half of the senders never wait for an actor, so that load goes on while nothing is processed.
      if (node !== undefined) await this.one(node, `${sender}.${number}`, number, sender % 2 === 0);
      // A pace, not a wait: keeps the actors' states small.
      await Bun.sleep(pauseMs);
    }
  }

  private async one(node: NodeProcess, label: string, number: number, asks: boolean): Promise<void> {
    const key = keys[number % keys.length] as string;
    const other = keys[(number * 7 + 1) % keys.length] as string;
    const [type, body, expected] = messageOf(number, label, key, other);
    try {
      if (asks) await node.ask(key, type, body);
      else await node.tell(key, type, body);
      this.accepted.push(...expected);
    } catch {
      this.inDoubt.push(...expected);
    }
  }

  /** Ends the load, waits for everything accepted to have had its effect, and looks for losses and doubles. */
  async settle(timeoutMs = 25_000): Promise<void> {
    await this.pause();
    const missing = await until(
      async () => {
        const found = await this.found();
        const lost = this.accepted.filter((one) => !found.has(nameOf(one)));
        return lost.length === 0 ? { lost } : null;
      },
      { what: "every accepted message to have its effect", timeoutMs, everyMs: 50 },
    ).catch(async (error: Error) => {
      const found = await this.found();
      const lost = this.accepted.filter((one) => !found.has(nameOf(one)));
      throw new Error(`${error.message}; lost ${lost.length}: ${lost.slice(0, 10).map(nameOf).join(", ")}`);
    });
    expect(missing.lost).toEqual([]);
    await this.expectNoDoubles();
  }

  /** Nothing had its effect twice, nothing appeared that nobody sent, and the logs have no gaps. */
  async expectNoDoubles(): Promise<void> {
    const found = await this.found();
    expect([...found].filter(([, times]) => times > 1)).toEqual([]);
    const sent = new Set([...this.accepted, ...this.inDoubt].map(nameOf));
    expect([...found.keys()].filter((name) => !sent.has(name))).toEqual([]);
    const gaps = await this.sql`
      select key, log from runtime_logs group by key, log having max(seq) <> count(*) or min(seq) <> 1`;
    expect([...gaps]).toEqual([]);
    const dead = await this.sql`select error from runtime_dead_letters`;
    expect([...dead]).toEqual([]);
  }

  /** How often each labelled thing happened, by what is committed. */
  async found(): Promise<Map<string, number>> {
    const times = new Map<string, number>();
    const count = (expected: Expected) => times.set(nameOf(expected), (times.get(nameOf(expected)) ?? 0) + 1);
    const { actors, logs } = await this.read();
    const outcomes: string[] = [];
    for (const { key, state } of actors) {
      const { seen, outcomes: ended } = JSON.parse(state) as State;
      for (const label of seen) count({ key, what: "seen", label });
      for (const outcome of ended) outcomes.push(`${key} ${outcome.replace(/:true$/, "")}`);
    }
    const worked: string[] = [];
    for (const { key, entry } of logs) {
      const { note, worked: id } = JSON.parse(entry) as { note?: string; worked?: string };
      if (note !== undefined) count({ key, what: "noted", label: note });
      if (id !== undefined) {
        count({ key, what: "worked", label: id });
        worked.push(`${key} ${id}`);
      }
    }
    // State and log of a turn are one commit, so they tell the same story.
    if (outcomes.sort().join() !== worked.sort().join()) throw new Error("states and logs disagree");
    return times;
  }

  /** All states and logs as of one moment: a message in doubt may be taken at any time. */
  private read() {
    return this.sql.begin("isolation level repeatable read read only", async (sql) => ({
      actors: await sql<{ key: string; state: string }[]>`select key, state from runtime_actors where key like 'key-%'`,
      logs: await sql<{ key: string; entry: string }[]>`select key, entry from runtime_logs where key like 'key-%'`,
    }));
  }
}

function nameOf({ key, what, label }: Expected): string {
  return `${key} ${what} ${label}`;
}

function messageOf(number: number, label: string, key: string, other: string): [string, Json, Expected[]] {
  switch (number % 8) {
    case 0:
    case 1:
      return ["note", { text: label }, [{ key, what: "noted", label }]];
    case 2:
    case 3: {
      const to = [...new Set([key, other])];
      return ["spread", { to, label }, to.map((one) => ({ key: one, what: "seen", label }))];
    }
    case 5: {
      const [first = key, ...to] = [...new Set([key, other])];
      const seen = [first, ...to].map((one) => ({ key: one, what: "seen", label }) as const);
      return ["relay", { to, label }, seen];
    }
    case 4:
      return ["work", { activity: "echo", id: label, input: number }, [{ key, what: "worked", label }]];
    default:
      return ["add", { label }, [{ key, what: "seen", label }]];
  }
}
