/** Who works next when all tenants share a few slots: each tenant in turn, none with more than its share. */

/** Too much work is waiting: of the tenant, or of all tenants of this node. */
export class SlotsFull extends Error {
  override readonly name = "SlotsFull";
  constructor(readonly of: "tenant" | "node") {
    super(`Too much work of the ${of} is waiting`);
  }
}

export interface SlotLimits {
  /** Pieces of work that run at once. */
  readonly slots: number;
  /** Of these, those that one tenant may hold. */
  readonly perTenant: number;
  /** Pieces of work that may wait, of one tenant and of all. Durable work is let in beyond that. */
  readonly waitingPerTenant: number;
  readonly waiting: number;
}

export interface SlotWish {
  readonly tenant: string;
  /** Aborted when the answer is wanted no longer. */
  readonly signal?: AbortSignal | undefined;
  /** Durable work waits however long the line is: it is stored, and bounded where it is stored. */
  readonly durable: boolean;
}

interface Waiting {
  readonly start: () => void;
  /** Has it leave its line for a tenant that waits with less; null for durable work. */
  readonly giveWay: (() => void) | null;
}

export class Slots {
  private busy = 0;
  private waiting = 0;
  private readonly running = new Map<string, number>();
  /** Tenants in the order of their next turn. */
  private readonly lines = new Map<string, Waiting[]>();

  constructor(private readonly limits: SlotLimits) {}

  /** Work that waits for a slot. */
  get size(): number {
    return this.waiting;
  }

  /**
   * Resolves when it is the caller's turn.
   * @returns gives the slot back; to be called exactly once
   * @throws SlotsFull, the signal's reason
   */
  async take({ tenant, signal, durable }: SlotWish): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.busy < this.limits.slots && this.mayRun(tenant)) return this.begin(tenant);
    if (!durable) this.refuseWhenFull(tenant);
    await new Promise<void>((resolve, reject) => {
      const place: Waiting = {
        start: () => settle(resolve),
        giveWay: durable
          ? null
          : () => {
              this.drop(tenant, place);
              settle(() => reject(new SlotsFull("node")));
            },
      };
      const leave = () => {
        this.drop(tenant, place);
        settle(() => reject(signal?.reason));
      };
      const settle = (end: () => void) => {
        signal?.removeEventListener("abort", leave);
        end();
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.line(tenant).push(place);
      this.waiting += 1;
    });
    // The slot was taken on this caller's behalf when its turn came.
    return () => this.end(tenant);
  }

  private begin(tenant: string): () => void {
    this.busy += 1;
    this.running.set(tenant, (this.running.get(tenant) ?? 0) + 1);
    return () => this.end(tenant);
  }

  private end(tenant: string): void {
    this.busy -= 1;
    const left = (this.running.get(tenant) ?? 1) - 1;
    if (left === 0) this.running.delete(tenant);
    else this.running.set(tenant, left);
    this.startNext();
  }

  private startNext(): void {
    for (const [tenant, line] of this.lines) {
      if (this.busy >= this.limits.slots) return;
      if (!this.mayRun(tenant)) continue;
      const next = line.shift();
      // To the back of the round, or out of it.
      this.lines.delete(tenant);
      if (line.length > 0) this.lines.set(tenant, line);
      if (next === undefined) continue;
      this.waiting -= 1;
      this.begin(tenant);
      next.start();
    }
  }

  private mayRun(tenant: string): boolean {
    return (this.running.get(tenant) ?? 0) < this.limits.perTenant;
  }

  private refuseWhenFull(tenant: string): void {
    if ((this.lines.get(tenant)?.length ?? 0) >= this.limits.waitingPerTenant) throw new SlotsFull("tenant");
    if (this.waiting >= this.limits.waiting && !this.makeRoom(tenant)) throw new SlotsFull("node");
  }

  /**
   * Has the last one of the longest line give way, where that line stays as long as this tenant's: many tenants that wait
   * with all they may keep no other tenant out.
   */
  private makeRoom(tenant: string): boolean {
    let longest: readonly Waiting[] = [];
    for (const line of this.lines.values()) if (line.length > longest.length) longest = line;
    const last = longest.findLast(({ giveWay }) => giveWay !== null);
    if (last === undefined || longest.length <= (this.lines.get(tenant)?.length ?? 0) + 1) return false;
    last.giveWay?.();
    return true;
  }

  private line(tenant: string): Waiting[] {
    const known = this.lines.get(tenant);
    if (known !== undefined) return known;
    const line: Waiting[] = [];
    this.lines.set(tenant, line);
    return line;
  }

  private drop(tenant: string, place: Waiting): void {
    const line = this.lines.get(tenant);
    const at = line?.indexOf(place) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    this.waiting -= 1;
    if (line.length === 0) this.lines.delete(tenant);
  }
}
