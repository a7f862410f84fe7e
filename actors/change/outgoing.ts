/**
 * Changes of this node that are still to be told: of each record the newest alone, each not before its time, and no more
 * than memory has room for.
 */
import { type RecordChange, recordOf } from "./change.ts";

export interface OutgoingBounds {
  /** Records of one tenant, and of all, that may wait. */
  readonly perTenant: number;
  readonly total: number;
}

interface Waiting {
  change: RecordChange;
  /** Milliseconds of the clock that the caller goes by. */
  notBefore: number;
}

export class Outgoing {
  readonly #tenants = new Map<string, Map<string, Waiting>>();
  readonly #lost = new Set<string>();
  #size = 0;

  constructor(private readonly bounds: OutgoingBounds) {}

  /** Records that wait. */
  get size(): number {
    return this.#size;
  }

  /** Tenants of which changes wait, or were dropped. */
  get tenants(): readonly string[] {
    return [...new Set([...this.#tenants.keys(), ...this.#lost])];
  }

  /** Takes a change in; where there is no room it is dropped, and the tenant counts as one with a loss. */
  put(tenant: string, change: RecordChange): void {
    const records = this.#tenants.get(tenant) ?? new Map<string, Waiting>();
    const name = recordOf(change);
    const known = records.get(name);
    if (known !== undefined) {
      if (replaces(change, known.change)) known.change = change;
      return;
    }
    if (records.size >= this.bounds.perTenant || this.#size >= this.bounds.total) {
      this.#lost.add(tenant);
      return;
    }
    this.#tenants.set(tenant, records.set(name, { change, notBefore: 0 }));
    this.#size++;
  }

  /** The changes of a tenant that may be told now, at most `limit`. @param now Infinity: all, at any time */
  due(tenant: string, now: number, limit: number): readonly RecordChange[] {
    const due: RecordChange[] = [];
    for (const { change, notBefore } of this.#tenants.get(tenant)?.values() ?? []) {
      if (notBefore <= now && due.push(change) >= limit) break;
    }
    return due;
  }

  /** When the next change of any tenant may be told; null: none waits. */
  next(): number | null {
    let next: number | null = this.#lost.size > 0 ? 0 : null;
    for (const records of this.#tenants.values())
      for (const { notBefore } of records.values()) if (next === null || notBefore < next) next = notBefore;
    return next;
  }

  /** A change was told. What came meanwhile waits until `next`. */
  told(tenant: string, change: RecordChange, next: number): void {
    const records = this.#tenants.get(tenant);
    const name = recordOf(change);
    const known = records?.get(name);
    if (records === undefined || known === undefined) return;
    if (known.change !== change) {
      known.notBefore = next;
      return;
    }
    records.delete(name);
    this.#size--;
    if (records.size === 0) this.#tenants.delete(tenant);
  }

  /** It is too early for a change of the record: its newest waits until `next`. */
  early(tenant: string, change: RecordChange, next: number): void {
    const known = this.#tenants.get(tenant)?.get(recordOf(change));
    if (known !== undefined) known.notBefore = next;
  }

  /** Nothing of the tenant is to be told. */
  forget(tenant: string): void {
    this.#size -= this.#tenants.get(tenant)?.size ?? 0;
    this.#tenants.delete(tenant);
    this.#lost.delete(tenant);
  }

  /** Whether changes of the tenant were dropped. */
  hasLost(tenant: string): boolean {
    return this.#lost.has(tenant);
  }

  /** The loss has been told. */
  lossTold(tenant: string): void {
    this.#lost.delete(tenant);
  }
}

/** Whether a change is told in place of one that waits. */
function replaces(change: RecordChange, waiting: RecordChange): boolean {
  if (change.telling === "first") return false;
  return change.rev === null || waiting.rev === null || change.rev > waiting.rev;
}
