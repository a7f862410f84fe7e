/**
 * The slots of one activity on one node, shared by tenants: while other tenants have been seen, the work of one takes at
 * most three times as many slots as it leaves free. So a newcomer finds a slot though the others' work runs for hours, and
 * a tenant alone has all of them.
 */

/** A tenant without work for so long is no reason to leave slots free, ms. */
const rememberMs = 10 * 60_000;
/** Slots that one tenant may hold for each that is free. */
const perFreeSlot = 3;

interface Seen {
  readonly tenant: string;
  readonly at: number;
}

export class Slots {
  private readonly byTenant = new Map<string, number>();
  /** Whose work was asked for last, and that of which other tenant last before. */
  private latest: Seen | null = null;
  private other: Seen | null = null;
  private taken = 0;

  constructor(
    private readonly most: number,
    private readonly now: () => number,
  ) {}

  get isFull(): boolean {
    return this.taken >= this.most;
  }

  /** Work of the tenant was asked for. */
  note(tenant: string): void {
    if (this.latest !== null && this.latest.tenant !== tenant) this.other = this.latest;
    this.latest = { tenant, at: this.now() };
  }

  /** Whether the tenant may take a slot now. */
  admits(tenant: string): boolean {
    const free = this.most - this.taken;
    if (free <= 0) return false;
    return !this.hasOthers(tenant) || (this.byTenant.get(tenant) ?? 0) < perFreeSlot * free;
  }

  take(tenant: string): void {
    this.taken++;
    this.byTenant.set(tenant, (this.byTenant.get(tenant) ?? 0) + 1);
  }

  giveBack(tenant: string): void {
    this.taken--;
    const left = (this.byTenant.get(tenant) ?? 1) - 1;
    if (left === 0) this.byTenant.delete(tenant);
    else this.byTenant.set(tenant, left);
  }

  private hasOthers(tenant: string): boolean {
    const other = this.latest?.tenant === tenant ? this.other : this.latest;
    return other !== null && this.now() - other.at < rememberMs;
  }
}
