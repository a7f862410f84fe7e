/**
 * Messages that wait for the lane, taken by turns of tenants: a tenant with thousands of waiting messages delays no
 * other tenant by more than its turn.
 *
 * Messages of one mailbox keep their order, since the mailbox's offset says how far its partition has come; those that
 * were handed over in memory are in no mailbox and wait in a line of their tenant. Where a message of one tenant stands
 * behind messages of another in a mailbox, those before it are taken first when that other tenant's turn comes.
 */
import { jsonWeight } from "../../../lib/json-weight.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";

export interface InboxLimits {
  /** Messages that a line holds before it takes no more; soft by what is on its way. */
  readonly messages: number;
  /** And characters of messages. */
  readonly bytes: number;
  /** Characters of all lines together. Then only lines with little in them take more. */
  readonly totalBytes: number;
  /** Characters of the messages of one batch; a larger message is a batch of its own. */
  readonly batchBytes: number;
}

/** How a message is to be taken: with others of its kind, and with at most so many of them. */
export interface Company {
  readonly kind: string;
  readonly most: number;
}

interface Waiting {
  readonly delivery: Delivery;
  /** Characters, about. */
  readonly size: number;
}

/** A mailbox's messages in order, or those of a tenant that came from memory. */
interface Line {
  readonly waiting: Waiting[];
  /** How many wait of each tenant. */
  readonly tenants: Map<string, number>;
  bytes: number;
}

/** What a tenant has at the heads of lines. The longest waiting comes first. */
interface Share {
  readonly lines: Set<Line>;
  /** Those with other tenants behind. */
  readonly mixed: Set<Line>;
}

/** A line takes so many messages, and characters of them, even while the others hold too much. */
const fewMessages = 8;
const fewBytes = 64 * 1024;

/** Effects keep the order of their sender, also where they did not come by the mailbox. */
const isOrdered = ({ id, envelope }: Delivery): boolean => id !== null || envelope?.effect !== undefined;
const tenantOf = ({ envelope }: Delivery): string => envelope?.tenant ?? "";
const sizeOf = ({ raw, envelope }: Delivery): number => raw.length || jsonWeight(envelope?.body ?? null);

export class Inbox {
  private readonly byPartition = new Map<number, Line>();
  private readonly byTenant = new Map<string, Line>();
  /** In the order of their next turn. */
  private readonly shares = new Map<string, Share>();
  private count = 0;
  private characters = 0;

  constructor(private readonly limits: InboxLimits) {}

  get size(): number {
    return this.count;
  }

  get bytes(): number {
    return this.characters;
  }

  push(delivery: Delivery): void {
    const line = this.lineOf(delivery);
    const size = sizeOf(delivery);
    line.waiting.push({ delivery, size });
    line.bytes += size;
    this.count++;
    this.characters += size;
    const tenant = tenantOf(delivery);
    const before = line.tenants.get(tenant) ?? 0;
    line.tenants.set(tenant, before + 1);
    // A line joins when its first message comes, and counts as mixed from its second tenant on.
    if (line.waiting.length === 1 || before === 0) this.file(line);
  }

  /** Puts back what was taken last, before everything else of its lines. */
  putBack(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries.toReversed()) {
      const line = this.lineOf(delivery);
      const size = sizeOf(delivery);
      const tenant = tenantOf(delivery);
      this.unfile(line);
      line.waiting.unshift({ delivery, size });
      line.tenants.set(tenant, (line.tenants.get(tenant) ?? 0) + 1);
      line.bytes += size;
      this.count++;
      this.characters += size;
      this.file(line);
    }
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
    return this.isOpen(this.byPartition.get(partition));
  }

  /** Whether a tenant may hand over a message in memory. */
  takes(tenant: string): boolean {
    return this.isOpen(this.byTenant.get(tenant));
  }

  has(partition: number): boolean {
    return (this.byPartition.get(partition)?.waiting.length ?? 0) > 0;
  }

  /**
   * The messages of the next batch, by turns of tenants.
   * @param companyOf only messages of one kind of company share a batch
   * @param roomAgain told when a mailbox that was full is so no more
   */
  next(
    most: number,
    companyOf: (delivery: Delivery, size: number) => Company | null,
    roomAgain: () => void,
  ): Delivery[] {
    const taken: Delivery[] = [];
    let bytes = 0;
    let kind: string | null = null;
    let limit = most;
    let isRoomAgain = false;
    const { totalBytes, batchBytes } = this.limits;
    for (;;) {
      const line = this.turn();
      const head = line?.waiting[0];
      if (line === undefined || head === undefined) break;
      const company = companyOf(head.delivery, head.size);
      if (taken.length === 0) {
        kind = company?.kind ?? null;
        limit = Math.min(most, company?.most ?? most);
      } else if ((company?.kind ?? null) !== kind || bytes + head.size > batchBytes) break;
      const wasFull = !this.isOpen(line) || this.characters >= totalBytes;
      this.shift(line, head);
      isRoomAgain ||= wasFull && this.isOpen(line) && this.characters < totalBytes;
      taken.push(head.delivery);
      bytes += head.size;
      if (taken.length >= limit || bytes > batchBytes) break;
    }
    if (isRoomAgain) roomAgain();
    return taken;
  }

  /** Takes out everything for these partitions. */
  remove(partitions: ReadonlySet<number>): Delivery[] {
    const out: Delivery[] = [];
    for (const line of [...this.byPartition.values(), ...this.byTenant.values()]) {
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
    for (const partition of partitions) this.byPartition.delete(partition);
    this.sweepTenants();
    return out;
  }

  private isOpen(line: Line | undefined): boolean {
    if (line === undefined) return true;
    const { messages, bytes, totalBytes } = this.limits;
    if (this.characters >= totalBytes) return line.waiting.length < fewMessages && line.bytes < fewBytes;
    return line.waiting.length < messages && line.bytes < bytes;
  }

  private lineOf(delivery: Delivery): Line {
    const ordered = isOrdered(delivery);
    const line = ordered ? this.byPartition.get(delivery.partition) : this.byTenant.get(tenantOf(delivery));
    if (line !== undefined) return line;
    const made: Line = { waiting: [], tenants: new Map(), bytes: 0 };
    if (ordered) this.byPartition.set(delivery.partition, made);
    else this.byTenant.set(tenantOf(delivery), made);
    return made;
  }

  /** Whose turn it is. */
  private turn(): Line | undefined {
    const first = this.shares.values().next();
    if (first.done === true) return undefined;
    const { lines, mixed } = first.value;
    const [line] = mixed.size > 0 ? mixed : lines;
    return line;
  }

  /** Takes the head of a line; its tenant, and the line, go to the back of the round. */
  private shift(line: Line, head: Waiting): void {
    const tenant = tenantOf(head.delivery);
    this.unfile(line);
    const share = this.shares.get(tenant);
    if (share !== undefined) {
      this.shares.delete(tenant);
      this.shares.set(tenant, share);
    }
    line.waiting.shift();
    this.forget(line, head);
    if (line.waiting.length > 0) this.file(line);
    else if (!isOrdered(head.delivery)) this.byTenant.delete(tenant);
  }

  private forget(line: Line, { delivery, size }: Waiting): void {
    const tenant = tenantOf(delivery);
    const left = (line.tenants.get(tenant) ?? 1) - 1;
    if (left === 0) line.tenants.delete(tenant);
    else line.tenants.set(tenant, left);
    line.bytes -= size;
    this.count--;
    this.characters -= size;
  }

  /** Puts a line under the tenant of its head. */
  private file(line: Line): void {
    const head = line.waiting[0];
    if (head === undefined) return;
    const tenant = tenantOf(head.delivery);
    let share = this.shares.get(tenant);
    if (share === undefined) {
      share = { lines: new Set(), mixed: new Set() };
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
