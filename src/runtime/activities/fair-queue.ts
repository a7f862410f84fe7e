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
  readonly queuedAt: number;
}

/** Waiting work of one activity, taken in turn by tenant: a tenant with a thousand waiting delays no other tenant. */
export class FairQueue {
  private readonly tenants = new Map<string, Work[]>();
  private readonly byId = new Map<string, Work>();

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
    const line = this.tenants.get(work.actor.tenant);
    if (line === undefined) this.tenants.set(work.actor.tenant, [work]);
    else line.push(work);
  }

  shift(): Work | undefined {
    const first = this.tenants.entries().next();
    if (first.done === true) return undefined;
    const [tenant, line] = first.value;
    const work = line.shift();
    // To the back of the round, or out of it.
    this.tenants.delete(tenant);
    if (line.length > 0) this.tenants.set(tenant, line);
    if (work !== undefined) this.byId.delete(work.id);
    return work;
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
    for (const work of out) this.byId.delete(work.id);
    return out;
  }
}
