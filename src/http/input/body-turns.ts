/** Large bodies: read one after the other (`src/lib/fair-turns.ts`), and no more of them held than the node can. */
import { Problem } from "../../../actors/kernel/problem.ts";
import { FairTurns } from "../../lib/fair-turns.ts";

const nothingHeld = (): void => {};

/** Bytes that are set aside for something, bounded for each owner and for all together. */
export class ByteBudget {
  private readonly held = new Map<string, number>();
  private total = 0;

  /** Bytes that are set aside now. */
  get bytes(): number {
    return this.total;
  }

  /** @param small so few bytes are always let through: they take no more than their connection does */
  constructor(
    private readonly most: number,
    private readonly ofOne: number,
    private readonly small: number,
  ) {}

  /** @returns gives them back; null when there is no room */
  hold(owner: string, bytes: number): (() => void) | null {
    if (bytes <= this.small) return nothingHeld;
    const before = this.held.get(owner) ?? 0;
    if (this.total + bytes > this.most || before + bytes > this.ofOne) return null;
    this.total += bytes;
    this.held.set(owner, before + bytes);
    return () => {
      this.total -= bytes;
      const left = (this.held.get(owner) ?? 0) - bytes;
      if (left > 0) this.held.set(owner, left);
      else this.held.delete(owner);
    };
  }
}

/** Bodies that an app holds, bytes. */
const mostBytes = 256 * 1024 * 1024;
/** And of one tenant. */
const mostOfOne = 64 * 1024 * 1024;
/** Bytes of a body whose reading is work. A raw one may be YAML, of which a kibibyte takes milliseconds. */
const worth = { json: 16 * 1024, raw: 256 } as const;

/** Above so many bytes a body costs more than its reading: it came in pieces, and is copied and measured further on. */
const lightBytes = 1_048_576;
/**
 * What such a body is given of the main thread, bytes per ms: 16 MiB took it 75 ms from the first piece to the answer,
 * most of it copies into fresh pages; that and three times as much for everything else.
 */
const heavyBytesPerMs = 60_000;

/** What all bodies of an app share. */
export class BodyGates {
  private readonly turns = new FairTurns();
  /** The turns of heavy bodies before they wait with all others, so that their rest holds up no light one. */
  private readonly heavyTurns = new FairTurns();
  private readonly budget = new ByteBudget(mostBytes, mostOfOne, worth.json);

  /** Bytes of bodies that are held now. */
  get bytes(): number {
    return this.budget.bytes;
  }

  /**
   * @param tenant whose bytes they are; null where routes bound them
   * @param owner  whose turn they take
   */
  enter(tenant: string | null, owner: string): BodyShare {
    return new BodyShare(this.turns, this.heavyTurns, this.budget, tenant, owner);
  }
}

/** One request's part. */
export class BodyShare {
  private release = nothingHeld;

  constructor(
    private readonly turns: FairTurns,
    private readonly heavyTurns: FairTurns,
    private readonly budget: ByteBudget,
    private readonly tenant: string | null,
    private readonly owner: string,
  ) {}

  /**
   * Sets bytes aside until the request is answered; what was set aside before is given back.
   * @throws Problem 503 `service_unavailable` when there is no room
   */
  hold(bytes: number): void {
    if (this.tenant === null) return;
    this.release();
    this.release = nothingHeld;
    const release = this.budget.hold(this.tenant, bytes);
    if (release === null) {
      const headers = { Connection: "close", "Retry-After": "1" };
      throw new Problem("service_unavailable", "Too many large bodies are being worked on", {}, headers);
    }
    this.release = release;
  }

  /** Waits until a body may be read. @throws Problem when its sender has left */
  async turn(request: Request, kind: keyof typeof worth, bytes: number): Promise<void> {
    if (bytes < worth[kind]) return;
    if (bytes > lightBytes) await this.heavyTurns.take(this.owner, bytes / heavyBytesPerMs);
    await this.turns.take(this.owner);
    if (request.signal.aborted) throw new Problem("service_unavailable", "The caller has left");
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
