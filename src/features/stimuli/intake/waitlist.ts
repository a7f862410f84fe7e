/** What waits for a statement of the acceptance, taken by turns of tenants. */

export interface WaitlistBounds {
  /** Rows of one statement, and the characters their contents may have together; one is always taken. */
  readonly rows: number;
  readonly characters: number;
}

export class Waitlist<T> {
  /** In the order of their next turn. */
  private readonly lines = new Map<string, T[]>();
  private count = 0;

  /** @param of the tenant, the characters, and the name under which no two may be in one statement; empty: it has none */
  constructor(
    private readonly bounds: WaitlistBounds,
    private readonly of: (one: T) => { readonly tenant: string; readonly characters: number; readonly name: string },
  ) {}

  get size(): number {
    return this.count;
  }

  push(one: T): void {
    const { tenant } = this.of(one);
    const line = this.lines.get(tenant);
    if (line === undefined) this.lines.set(tenant, [one]);
    else line.push(one);
    this.count++;
  }

  /** The rows of the next statement. */
  next(): T[] {
    const taken: T[] = [];
    const later: T[] = [];
    const names = new Set<string>();
    let left = this.bounds.characters;
    for (const [tenant, line] of this.lines) {
      const [head] = line;
      if (head === undefined || taken.length >= this.bounds.rows) break;
      const { characters, name } = this.of(head);
      if (taken.length > 0 && characters > left) break;
      line.shift();
      // To the back of the round, where this loop comes again, or out of it.
      this.lines.delete(tenant);
      if (line.length > 0) this.lines.set(tenant, line);
      this.count--;
      if (name !== "" && names.has(name)) later.push(head);
      else {
        names.add(name);
        taken.push(head);
        left -= characters;
      }
    }
    for (const one of later) this.push(one);
    return taken;
  }
}
