/** Waiting work, in an order that is fair to the tenants. */
import type { Address } from "../port.ts";

/** A piece of work on its way to its activity. */
export interface Work {
  readonly id: string;
  readonly actor: Address;
  readonly name: string;
  readonly input: string;
  readonly replyType: string;
  readonly resumed: boolean;
  /** Taken over from another machine. */
  readonly moved: boolean;
  readonly abandoned: boolean;
  attempt: number;
  /** To be done when the outcome of this attempt is taken in. */
  onceTaken: (() => void)[];
  /** Nodes that died within moments of beginning it, and those that died with it at any time. */
  readonly deaths: number;
  readonly takeovers: number;
  readonly queuedAt: number;
  /** It runs already and waits for a slot to go on with; called with it. */
  readonly takesAgain?: () => void;
}

/** What is true of work that no node has begun yet. */
export const notBegun = (queuedAt: number) => ({
  resumed: false,
  moved: false,
  abandoned: false,
  attempt: 0,
  onceTaken: [],
  deaths: 0,
  takeovers: 0,
  queuedAt,
});

/** Waiting work of one activity, taken in turn by tenant: a tenant with a thousand waiting delays no other tenant. */
export class FairQueue {
  private readonly tenants = new Map<string, Work[]>();
  private readonly byId = new Map<string, Work>();
  /** Characters of the inputs. */
  bytes = 0;

  get size(): number {
    return this.byId.size;
  }

  has(id: string): boolean {
    return this.byId.has(id);
  }

  ids(): Iterable<string> {
    return this.byId.keys();
  }

  push(work: Work): void {
    this.byId.set(work.id, work);
    this.bytes += work.input.length;
    const line = this.tenants.get(work.actor.tenant);
    if (line === undefined) this.tenants.set(work.actor.tenant, [work]);
    else line.push(work);
  }

  /** The next work of the first tenant in the round that may have a slot. */
  shift(admits: (tenant: string) => boolean): Work | undefined {
    for (const [tenant, line] of this.tenants) {
      if (!admits(tenant)) continue;
      const work = line.shift();
      // To the back of the round, or out of it.
      this.tenants.delete(tenant);
      if (line.length > 0) this.tenants.set(tenant, line);
      if (work !== undefined) this.gone(work);
      return work;
    }
    return undefined;
  }

  /** Takes this one out. */
  take(id: string): Work | undefined {
    const work = this.byId.get(id);
    return work === undefined ? undefined : this.extract((one) => one === work, [work.actor.tenant])[0];
  }

  /** Takes out all work that matches. */
  extract(matches: (work: Work) => boolean, tenants: Iterable<string> = [...this.tenants.keys()]): Work[] {
    const out: Work[] = [];
    for (const tenant of tenants) {
      const line = this.tenants.get(tenant) ?? [];
      const kept = line.filter((work) => {
        if (!matches(work)) return true;
        out.push(work);
        return false;
      });
      if (kept.length === line.length) continue;
      if (kept.length === 0) this.tenants.delete(tenant);
      else this.tenants.set(tenant, kept);
    }
    for (const work of out) this.gone(work);
    return out;
  }

  private gone(work: Work): void {
    this.byId.delete(work.id);
    this.bytes -= work.input.length;
  }
}
