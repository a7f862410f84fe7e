/** Output of an instance on its way to the actor: gathered for a moment, told in order, never lost while the node lives. */
import type { OutputChunk, OutputStream } from "../../../adapters/sandbox/port.ts";

const gatherMs = 100;
/** Told at once when this much has gathered. */
const enough = 32 * 1024;
/** The actor stores 1 MiB per iteration; past this nothing more is told. */
const worthTelling = 1024 * 1024 + 2 * enough;
const retryMs = 500;

export interface ConsoleNews {
  readonly stream: OutputStream;
  readonly offset: number;
  readonly bytes: number;
  readonly content: string;
}

/** One per followed instance. */
export class ConsoleFeed {
  readonly #tell: (news: ConsoleNews) => Promise<void>;
  #waiting: ConsoleNews[] = [];
  #gathered = 0;
  #told: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sending: Promise<void> = Promise.resolve();
  #closed = false;

  /** @param known bytes told by an earlier follower */
  constructor(tell: (news: ConsoleNews) => Promise<void>, known: number) {
    this.#tell = tell;
    this.#told = known;
  }

  add({ stream, offset, bytes, content }: OutputChunk): void {
    if (this.#told > worthTelling) return;
    this.#told += bytes;
    const last = this.#waiting.at(-1);
    if (last?.stream === stream && last.offset + last.bytes === offset && last.bytes < enough) {
      this.#waiting[this.#waiting.length - 1] = {
        stream,
        offset: last.offset,
        bytes: last.bytes + bytes,
        content: last.content + content,
      };
    } else {
      this.#waiting.push({ stream, offset, bytes, content });
    }
    this.#gathered += bytes;
    if (this.#gathered >= enough) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
  }

  /** Tells what is left, and waits until all is told. */
  async finish(): Promise<void> {
    this.#flush();
    await this.#sending;
  }

  /** Gives up on output that is not reported yet; a later follower reports it again. */
  abandon(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#gathered = 0;
    this.#sending = this.#sending.then(async () => {
      for (const news of batch) await this.#insist(news);
    });
  }

  async #insist(news: ConsoleNews): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#tell(news);
        return;
      } catch {
        // A full mailbox or a store that is away: output keeps, and must stay in order.
        await Bun.sleep(retryMs);
      }
    }
  }
}
