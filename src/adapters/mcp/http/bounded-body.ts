/** Answers of a remote server, bounded while they are read. */

export interface BodyWatch {
  /** The answer, or one event of it, is larger than the bound. */
  tooLarge(): void;
  /** It ended, or broke off. @param resumable whether the server named events, so that a client may ask for the rest */
  ended(resumable: boolean): void;
  /** An event came. @returns false to cut the stream off */
  event(): boolean;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * The same bytes, until there are too many of them: of a stream of events in one event, otherwise in all.
 * @param maxBytes of an answer
 */
export function boundedBody(
  body: ReadableStream<Uint8Array>,
  isEvents: boolean,
  maxBytes: number,
  watch: BodyWatch,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const meter = isEvents ? new EventMeter(maxBytes, watch) : new WholeMeter(maxBytes);
  let isOver = false;

  const end = () => {
    if (!isOver) watch.ended(meter.resumable);
    isOver = true;
  };

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) {
          end();
          controller.close();
          return;
        }
        const fault = meter.take(value);
        if (fault === null) {
          controller.enqueue(value);
          return;
        }
        if (fault === "too_large") watch.tooLarge();
        isOver = true;
        await reader.cancel().catch(() => {});
        controller.error(new Error(fault === "flood" ? "The server floods" : "The answer is larger than 10 MiB"));
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel() {
      isOver = true;
      await reader.cancel().catch(() => {});
    },
  });
}

/** Why a body must not be read on. */
type Fault = "too_large" | "flood" | null;

class WholeMeter {
  #size = 0;
  readonly resumable = false;
  constructor(readonly maxBytes: number) {}

  take(chunk: Uint8Array): Fault {
    this.#size += chunk.length;
    return this.#size > this.maxBytes ? "too_large" : null;
  }
}

/** Counts what stands between two empty lines. */
class EventMeter {
  #size = 0;
  #lineLength = 0;
  #begin = "";
  resumable = false;

  constructor(
    readonly maxBytes: number,
    readonly watch: Pick<BodyWatch, "event">,
  ) {}

  take(chunk: Uint8Array): Fault {
    for (const byte of chunk) {
      if (byte === carriageReturn) continue;
      if (byte === lineFeed) {
        if (!this.#endLine()) return "flood";
      } else {
        if (this.#lineLength < 3) this.#begin += String.fromCharCode(byte);
        this.#lineLength += 1;
        this.#size += 1;
        if (this.#size > this.maxBytes) return "too_large";
      }
    }
    return null;
  }

  #endLine(): boolean {
    if (this.#begin === "id:" || this.#begin === "id") this.resumable = true;
    const isEvent = this.#lineLength === 0;
    if (isEvent) this.#size = 0;
    this.#lineLength = 0;
    this.#begin = "";
    return !isEvent || this.watch.event();
  }
}
