/** Removes what is committed from mailboxes: with one command for those of a commit, on a Cluster one for each slot group. */
import type { RedisClient } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";
import { firstAfter, trimTo } from "./mailbox.ts";
import type { Keys } from "./partition.ts";

export class Trimming {
  /** By partition, the last entry that can go. */
  private readonly wanted = new Map<number, string>();
  private readonly trimEach: ReturnType<typeof scriptCommand>;

  constructor(
    private readonly redis: RedisClient,
    private readonly keys: Keys,
  ) {
    this.trimEach = scriptCommand(redis, "trim-each");
  }

  /** Entries up to and including `offset` go, at the end of this turn of the event loop. Those that stay go the next time. */
  trim(partition: number, offset: string): void {
    if (this.wanted.size === 0) queueMicrotask(this.send);
    this.wanted.set(partition, offset);
  }

  private readonly send = (): void => {
    const all = [...this.wanted];
    this.wanted.clear();
    const groups = this.keys.slotGroups === 1 ? [all] : Map.groupBy(all, ([one]) => this.keys.groupOf(one)).values();
    for (const group of groups) this.trimGroup(group).catch(() => {});
  };

  private trimGroup(group: readonly (readonly [partition: number, offset: string])[]): Promise<unknown> {
    const { redis, keys } = this;
    const [first] = group;
    if (first !== undefined && group.length === 1) return trimTo(redis, keys.mailbox(first[0]), first[1]);
    return this.trimEach(
      group.map(([partition]) => keys.mailbox(partition)),
      group.map(([, offset]) => firstAfter(offset)),
    );
  }
}
