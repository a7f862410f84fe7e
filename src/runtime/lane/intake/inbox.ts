/**
 * Messages that wait for the lane, taken by turns of tenants: a tenant with thousands of waiting messages delays no
 * other tenant by more than its turn.
 *
 * Messages of one mailbox keep their order, since the mailbox's offset says how far its partition has come; those that
 * were handed over in memory are in no mailbox and wait in a line of their tenant. Of an actor that has many in a mailbox
 * they wait aside, in a line of that actor, and what stands behind them in the mailbox is read and taken meanwhile. Where
 * a message of one tenant stands behind messages of another in a mailbox, those before it are taken first when that other
 * tenant's turn comes.
 */
import type { Delivery } from "../../mailbox/mailbox.ts";
import { type AsideLimits, longLinesOf } from "./aside.ts";
import { HeldBack, type HoldsBack } from "./held-back.ts";
import { actorOf, isOrdered, type Line, tenantOf, type Waiting, waitingOf } from "./line.ts";

export interface InboxLimits {
  /** Messages that a line holds before it takes no more; soft by what is on its way. */
  readonly messages: number;
  /** And characters of messages. */
  readonly bytes: number;
  /** Characters of all lines together. Then only lines with little in them take more. */
  readonly totalBytes: number;
  /** Characters of the messages of one batch; a larger message is a batch of its own. */
  readonly batchBytes: number;
  /** Of the lines of single actors; none are set aside when left out. */
  readonly aside?: AsideLimits;
}

/** How a message is to be taken: with others of its kind, and with at most so many of them. */
export interface Company {
  readonly kind: string;
  readonly most: number;
}

/** What a tenant has at the heads of lines. The longest waiting comes first. */
interface Share {
  readonly lines: Set<Line>;
  /** Those with other tenants behind. */
  readonly mixed: Set<Line>;
  /** Of the tenant's turns, whether the last one went to one of these. */
  wasMixed: boolean;
}

/** A line takes so many messages, and characters of them, even while the others hold too much. */
const fewMessages = 8;
const fewBytes = 64 * 1024;

export class Inbox {
  private readonly byPartition = new Map<number, Line>();
  private readonly byTenant = new Map<string, Line>();
  /** The lines set aside of each partition, by actor. */
  private readonly aside = new Map<number, Map<string, Line>>();
  private asideCharacters = 0;
  /** In the order of their next turn. */
  private readonly shares = new Map<string, Share>();
  private count = 0;
  private characters = 0;

  /** @param mayDivide whether messages of a partition may be taken before earlier ones of other actors */
  constructor(
    private readonly limits: InboxLimits,
    private readonly mayDivide: (partition: number) => boolean = () => true,
  ) {}

  get size(): number {
    return this.count;
  }

  get bytes(): number {
    return this.characters;
  }

  push(delivery: Delivery): void {
    const line = this.lineOf(delivery);
    const waiting = waitingOf(delivery);
    line.waiting.push(waiting);
    this.weigh(line, waiting.size);
    const tenant = tenantOf(delivery);
    const before = line.tenants.get(tenant) ?? 0;
    line.tenants.set(tenant, before + 1);
    // A line joins when its first message comes, and counts as mixed from its second tenant on.
    if (line.waiting.length === 1 || before === 0) this.file(line);
    if (line.actor === null && delivery.id !== null) this.divide(line, delivery.partition);
  }

  /** Counts a message that comes to a line, or goes. */
  private weigh(line: Line, size: number, sign: 1 | -1 = 1): void {
    line.bytes += sign * size;
    this.count += sign;
    this.characters += sign * size;
    if (line.actor !== null) this.asideCharacters += sign * size;
  }

  /** Sets aside what a long line holds of actors that have much in it. */
  private divide(line: Line, partition: number): void {
    const { aside } = this.limits;
    if (aside === undefined || line.waiting.length < aside.from || line.waiting.length % aside.from > 0) return;
    if (!this.mayDivide(partition)) return;
    const lines = this.aside.get(partition) ?? new Map<string, Line>();
    const names = longLinesOf(line.waiting, ({ delivery }) => actorOf(delivery), aside).slice(
      0,
      aside.lines - lines.size,
    );
    if (names.length === 0) return;
    this.aside.set(partition, lines);
    const all = line.waiting.slice();
    this.unfile(line);
    for (const one of all) this.forget(line, one);
    line.waiting.length = 0;
    for (const name of names) lines.set(name, { waiting: [], tenants: new Map(), bytes: 0, actor: name });
    for (const { delivery } of all) this.push(delivery);
  }

  /** Puts back what was taken last, before everything else of its lines. */
  putBack(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries.toReversed()) {
      const line = this.lineOf(delivery);
      const waiting = waitingOf(delivery);
      const tenant = tenantOf(delivery);
      line.tenants.set(tenant, (line.tenants.get(tenant) ?? 0) + 1);
      this.weigh(line, waiting.size);
      this.putFirst(line, waiting);
    }
  }

  /** It is counted already. */
  private putFirst(line: Line, waiting: Waiting): void {
    this.unfile(line);
    line.waiting.unshift(waiting);
    this.file(line);
  }

  /**
   * Ends a batch whose turns take long where tenants share it or wait.
   * @param parts of batches that come before everything that waits here
   * @returns whether the messages from `index` on wait again
   */
  cut(batch: readonly Delivery[], index: number, parts: (readonly Delivery[])[]): boolean {
    if (index === 0 || !this.isShared(batch)) return false;
    if (parts.length > 0) parts.unshift(batch.slice(index));
    else this.putBack(batch.slice(index));
    return true;
  }

  /** Whether a batch has messages of several tenants, or others than its tenant wait. */
  isShared(batch: readonly Delivery[]): boolean {
    const [first] = batch;
    const tenant = first === undefined ? "" : tenantOf(first);
    return this.shares.size > (this.shares.has(tenant) ? 1 : 0) || batch.some((one) => tenantOf(one) !== tenant);
  }

  /** Whether the stream of a partition is to be read on. */
  hasRoom(partition: number): boolean {
    if (!this.isOpen(this.byPartition.get(partition))) return false;
    const aside = this.aside.get(partition);
    if (aside === undefined) return true;
    // Where nothing may be taken before them any more, these lines end first.
    return this.mayDivide(partition) && [...aside.values()].every((line) => this.isOpen(line));
  }

  /** Whether a tenant may hand over a message in memory. */
  takes(tenant: string): boolean {
    return this.isOpen(this.byTenant.get(tenant));
  }

  has(partition: number): boolean {
    return (this.byPartition.get(partition)?.waiting.length ?? 0) > 0 || this.aside.has(partition);
  }

  /**
   * The messages of the next batch, by turns of tenants.
   * @param companyOf only messages of one kind of company share a batch
   * @param roomAgain told when a mailbox that was full is so no more
   * @param holdsBack whether a message, and what stands behind it in its mailbox, is left where it is; null for none
   */
  next(
    most: number,
    companyOf: (delivery: Delivery, size: number) => Company | null,
    roomAgain: () => void,
    holdsBack: HoldsBack | null = null,
  ): Delivery[] {
    const taken: Delivery[] = [];
    let bytes = 0;
    let kind: string | null = null;
    let limit = most;
    let isRoomAgain = false;
    const { totalBytes, batchBytes } = this.limits;
    const held = holdsBack === null ? null : new HeldBack(holdsBack);
    for (;;) {
      const line = this.turn(held);
      const head = line?.waiting[0];
      if (line === undefined || head === undefined) break;
      const company = companyOf(head.delivery, head.size);
      if (taken.length === 0) {
        kind = company?.kind ?? null;
        limit = Math.min(most, company?.most ?? most);
      } else if ((company?.kind ?? null) !== kind || bytes + head.size > batchBytes) break;
      const wasFull = !this.isOpen(line) || this.readCharacters >= totalBytes;
      this.shift(line, head);
      isRoomAgain ||= this.isRoomAgain(line, wasFull);
      taken.push(head.delivery);
      bytes += head.size;
      if (taken.length >= limit || bytes > batchBytes) break;
    }
    if (held !== null) this.endHolding(held);
    if (isRoomAgain) roomAgain();
    return taken;
  }

  private endHolding({ standingAside }: HeldBack): void {
    for (const [line, waiting] of standingAside.toReversed()) {
      // It may have been emptied meanwhile.
      this.byTenant.set(tenantOf(waiting.delivery), line);
      this.putFirst(line, waiting);
    }
  }

  /** Takes out everything for these partitions. */
  remove(partitions: ReadonlySet<number>): Delivery[] {
    const out: Delivery[] = [];
    const aside = [...this.aside.values()].flatMap((lines) => [...lines.values()]);
    for (const line of [...this.byPartition.values(), ...this.byTenant.values(), ...aside]) {
      const gone = line.waiting.filter(({ delivery }) => partitions.has(delivery.partition));
      if (gone.length === 0) continue;
      const kept = line.waiting.filter(({ delivery }) => !partitions.has(delivery.partition));
      this.unfile(line);
      line.waiting.splice(0, line.waiting.length, ...kept);
      for (const one of gone) {
        this.forget(line, one);
        out.push(one.delivery);
      }
      this.file(line);
    }
    for (const partition of partitions) {
      this.byPartition.delete(partition);
      this.aside.delete(partition);
    }
    this.sweepTenants();
    return out;
  }

  /** Whether a mailbox may be read on now that a message left a line. Some wait until a line set aside has ended. */
  private isRoomAgain(line: Line, wasFull: boolean): boolean {
    if (line.actor !== null && line.waiting.length === 0) return true;
    return wasFull && this.isOpen(line) && this.readCharacters < this.limits.totalBytes;
  }

  private isOpen(line: Line | undefined): boolean {
    if (line === undefined) return true;
    const { messages, bytes, totalBytes } = line.actor === null ? this.limits : (this.limits.aside ?? this.limits);
    if ((line.actor === null ? this.readCharacters : this.asideCharacters) >= totalBytes)
      return line.waiting.length < fewMessages && line.bytes < fewBytes;
    return line.waiting.length < messages && line.bytes < bytes;
  }

  /** Characters of all lines but those set aside, which have bounds of their own. */
  private get readCharacters(): number {
    return this.characters - this.asideCharacters;
  }

  private lineOf(delivery: Delivery): Line {
    const ordered = isOrdered(delivery);
    const aside =
      ordered && this.aside.size > 0 ? this.aside.get(delivery.partition)?.get(actorOf(delivery)) : undefined;
    if (aside !== undefined) return aside;
    const line = ordered ? this.byPartition.get(delivery.partition) : this.byTenant.get(tenantOf(delivery));
    if (line !== undefined) return line;
    const made: Line = { waiting: [], tenants: new Map(), bytes: 0, actor: null };
    if (ordered) this.byPartition.set(delivery.partition, made);
    else this.byTenant.set(tenantOf(delivery), made);
    return made;
  }

  /** Whose turn it is. Where lines are set aside, each second turn of a tenant goes to the longest waiting of all its lines. */
  private turn(held: HeldBack | null): Line | undefined {
    if (held !== null) return this.turnBeside(held);
    const first = this.shares.values().next();
    if (first.done === true) return undefined;
    const share = first.value;
    const { lines, mixed, wasMixed } = share;
    share.wasMixed = mixed.size > 0 && !(wasMixed && this.aside.size > 0);
    const [line] = share.wasMixed ? mixed : lines;
    return line;
  }

  /** The same where some lines wait. */
  private turnBeside(held: HeldBack): Line | undefined {
    for (const share of this.shares.values()) {
      const { lines, mixed, wasMixed } = share;
      const mayBeMixed = mixed.size > 0 && !(wasMixed && this.aside.size > 0);
      const mixedOne = mayBeMixed ? mixed.values().find((line) => !held.waits(line)) : undefined;
      const line = mixedOne ?? lines.values().find((one) => !held.waits(one));
      if (line === undefined) continue;
      share.wasMixed = mixedOne !== undefined;
      return line;
    }
    return undefined;
  }

  /** Takes the head of a line; its tenant, and the line, go to the back of the round. */
  private shift(line: Line, head: Waiting): void {
    const tenant = tenantOf(head.delivery);
    const share = this.shares.get(tenant);
    const second = line.waiting[1];
    // The usual case: the line stays with its tenant.
    const stays = share !== undefined && second !== undefined && tenantOf(second.delivery) === tenant;
    if (!stays) this.unfile(line);
    if (share !== undefined && this.shares.size > 1 && this.shares.delete(tenant)) this.shares.set(tenant, share);
    line.waiting.shift();
    this.forget(line, head);
    if (stays) this.goToBack(line, share);
    else if (line.waiting.length > 0) this.file(line);
    else if (line.actor !== null) this.endAside(head.delivery.partition, line.actor);
    else if (!isOrdered(head.delivery)) this.byTenant.delete(tenant);
  }

  private goToBack(line: Line, { lines, mixed }: Share): void {
    if (lines.size > 1) {
      lines.delete(line);
      lines.add(line);
    }
    if (mixed.size === 0 || !mixed.delete(line)) return;
    if (line.tenants.size > 1) mixed.add(line);
  }

  private endAside(partition: number, actor: string): void {
    const lines = this.aside.get(partition);
    lines?.delete(actor);
    if (lines?.size === 0) this.aside.delete(partition);
  }

  private forget(line: Line, { delivery, size }: Waiting): void {
    const tenant = tenantOf(delivery);
    const left = (line.tenants.get(tenant) ?? 1) - 1;
    if (left === 0) line.tenants.delete(tenant);
    else line.tenants.set(tenant, left);
    this.weigh(line, size, -1);
  }

  /** Puts a line under the tenant of its head. */
  private file(line: Line): void {
    const head = line.waiting[0];
    if (head === undefined) return;
    const tenant = tenantOf(head.delivery);
    let share = this.shares.get(tenant);
    if (share === undefined) {
      share = { lines: new Set(), mixed: new Set(), wasMixed: false };
      this.shares.set(tenant, share);
    }
    share.lines.add(line);
    if (line.tenants.size > 1) share.mixed.add(line);
  }

  private unfile(line: Line): void {
    const head = line.waiting[0];
    if (head === undefined) return;
    const tenant = tenantOf(head.delivery);
    const share = this.shares.get(tenant);
    share?.lines.delete(line);
    share?.mixed.delete(line);
    if (share?.lines.size === 0) this.shares.delete(tenant);
  }

  private sweepTenants(): void {
    for (const [tenant, line] of this.byTenant) if (line.waiting.length === 0) this.byTenant.delete(tenant);
  }
}
