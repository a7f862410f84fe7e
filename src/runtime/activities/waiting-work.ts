/** Work that waits in memory for a slot of its activity: a queue for each activity, one bound for all of them. */
import { FairQueue, type Work } from "./fair-queue.ts";

/** Work that waits in memory; more stays in its rows. */
const mostWaiting = 10_000;
/** And characters of its inputs. */
const mostWaitingBytes = 64 * 1024 * 1024;

export class WaitingWork {
  private readonly queues = new Map<string, FairQueue>();

  get size(): number {
    let size = 0;
    for (const queue of this.queues.values()) size += queue.size;
    return size;
  }

  /** Characters of the inputs. */
  get bytes(): number {
    let bytes = 0;
    for (const queue of this.queues.values()) bytes += queue.bytes;
    return bytes;
  }

  /** How many more pieces of work may wait; `push` takes more, so its caller looks first where the rest can stay. */
  get room(): number {
    let room = mostWaiting;
    let bytes = mostWaitingBytes;
    for (const queue of this.queues.values()) {
      room -= queue.size;
      bytes -= queue.bytes;
    }
    return bytes <= 0 ? 0 : Math.max(0, room);
  }

  push(work: Work): void {
    let queue = this.queues.get(work.name);
    if (queue === undefined) {
      queue = new FairQueue();
      this.queues.set(work.name, queue);
    }
    queue.push(work);
  }

  has(id: string): boolean {
    for (const queue of this.queues.values()) if (queue.has(id)) return true;
    return false;
  }

  *ids(): Iterable<string> {
    for (const queue of this.queues.values()) yield* queue.ids();
  }

  /** Activities with work that waits. */
  *names(): Iterable<string> {
    for (const [name, queue] of this.queues) if (queue.size > 0) yield name;
  }

  /** The next work of this activity whose tenant may have a slot. */
  shift(name: string, admits: (tenant: string) => boolean): Work | undefined {
    return this.queues.get(name)?.shift(admits);
  }

  /** Takes this one out. */
  take(id: string): Work | undefined {
    for (const queue of this.queues.values()) if (queue.has(id)) return queue.take(id);
    return undefined;
  }

  /** Takes out all work of this activity that matches. */
  extract(name: string, matches: (work: Work) => boolean): Work[] {
    return this.queues.get(name)?.extract(matches) ?? [];
  }
}
