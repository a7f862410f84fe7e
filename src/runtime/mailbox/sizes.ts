/** How full mailboxes are, looked at now and then: those of one moment with one command, on a Cluster one for each slot group. */
import type { RedisClient } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";
import type { Keys } from "./partition.ts";

/** How long a look at a mailbox's length stays good, ms. The bound is soft by what arrives meanwhile. */
const lengthTtl = 50;
/** Messages that a mailbox holds at any size. */
const fewMessages = 64;

interface Size {
  messages: number;
  /** That they take in Redis, about; 0 for few messages. */
  bytes: number;
  at: number;
}

export class MailboxSizes {
  private readonly seen = new Map<number, Size>();
  private readonly due: number[] = [];
  private readonly ask: ReturnType<typeof scriptCommand>;

  constructor(
    redis: RedisClient,
    private readonly keys: Keys,
    private readonly now: () => number,
  ) {
    this.ask = scriptCommand(redis, "mailbox-sizes");
  }

  /** What was seen last; has it looked at again, meanwhile, where that is some time ago. */
  of(partition: number): Readonly<Pick<Size, "messages" | "bytes">> {
    const at = this.now();
    let size = this.seen.get(partition);
    if (size === undefined) {
      size = { messages: 0, bytes: 0, at: Number.NEGATIVE_INFINITY };
      this.seen.set(partition, size);
    }
    if (at - size.at > lengthTtl) {
      size.at = at;
      if (this.due.push(partition) === 1) queueMicrotask(this.look);
    }
    return size;
  }

  private readonly look = (): void => {
    const partitions = this.due.splice(0);
    const { slotGroups, groupOf } = this.keys;
    const groups = slotGroups === 1 ? [partitions] : Map.groupBy(partitions, groupOf).values();
    for (const group of groups) this.lookAt(group).catch(() => {});
  };

  private async lookAt(partitions: readonly number[]): Promise<void> {
    const names = partitions.map((partition) => this.keys.mailbox(partition));
    const sizes = (await this.ask(names, [fewMessages])) as readonly number[];
    for (const [place, partition] of partitions.entries()) {
      const size = this.seen.get(partition);
      if (size === undefined) continue;
      size.messages = sizes[2 * place] ?? 0;
      size.bytes = sizes[2 * place + 1] ?? 0;
    }
  }
}
