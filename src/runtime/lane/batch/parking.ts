/** How the lane sets messages aside that this node does not know, and those behind them. */
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Envelope } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Need } from "../../versions/knowledge.ts";
import { ParkedMessages } from "../../versions/parked.ts";
import type { Held } from "../exchange/held.ts";
import type { TurnResult } from "../turn.ts";
import type { Batch } from "./batch.ts";

export interface ParkingOptions {
  readonly sql: Sql;
  /** Something that this node does not know lies in its partitions. */
  unknownMet(): void;
  report(what: "unknown_met", facts: Record<string, unknown>): void;
}

type Unknown = Extract<TurnResult, { result: "unknown" }>;

const nameOf = ({ kind, key }: Envelope) => `${kind}/${key}`;

/** Between tries at a database that is away, ms. */
const pauseMs = 50;

export class Parking extends ParkedMessages {
  private isMyTurn = false;

  constructor(private readonly options: ParkingOptions) {
    super(options.sql);
  }

  /**
   * Messages that waited, to be tried now: by turns with all others, or at once where there are none.
   * @returns null when it is the turn of others, or the store is away
   */
  async take(isIdle: boolean): Promise<readonly Delivery[] | null> {
    this.isMyTurn = isIdle || !this.isMyTurn;
    if (!this.isMyTurn) return null;
    try {
      return await this.next();
    } catch {
      await Bun.sleep(pauseMs);
      return null;
    }
  }

  /** Tells a batch which of its actors have earlier messages waiting. */
  async block({ setAside }: Batch, deliveries: readonly Delivery[]): Promise<void> {
    for (const name of await this.blocked(deliveries)) setAside.blocked.add(name);
  }

  /** Sets a message aside that must not run: one behind another of its actor, or an outcome that nothing waits for. */
  holdsBack(batch: Batch, held: Held, { partition, envelope, parked }: Delivery): boolean {
    if (envelope === null || (parked === undefined && batch.setAside.blocked.size === 0)) return false;
    const name = nameOf(envelope);
    if (parked === undefined) {
      if (!batch.setAside.blocked.has(name)) return false;
      this.setAsideFor(batch, held, envelope, null);
    } else if (batch.setAside.isUnwanted(parked)) batch.setAside.takeBack(parked);
    else if (!this.isStuck(partition, name)) return false;
    return true;
  }

  /** Keeps a message that this node does not know; one that is kept already stays, or is done with. */
  keeps(batch: Batch, held: Held, delivery: Delivery, turn: TurnResult): turn is Unknown {
    const { envelope, parked, partition } = delivery;
    if (envelope === null || turn.result !== "unknown") {
      this.drop(batch, delivery);
      return false;
    }
    const { need } = turn;
    if (parked !== undefined) this.stays(partition, nameOf(envelope));
    else {
      this.options.report("unknown_met", { need, partition });
      this.setAsideFor(batch, held, envelope, need);
    }
    return true;
  }

  /** A message that waited is done with. */
  drop(batch: Batch, { parked }: Delivery): void {
    if (parked !== undefined) batch.setAside.takeBack(parked);
  }

  private setAsideFor(batch: Batch, { partition }: Held, envelope: Envelope, need: Need | null): void {
    if (envelope.activity !== null) batch.settled.push(envelope.activity);
    batch.setAside.keep(partition, envelope, need);
  }

  /** The batch is committed. */
  noteAll({ setAside: { rows } }: Batch): void {
    if (rows.length === 0) return;
    for (const { partition } of rows) this.note(partition);
    if (rows.some(({ need }) => need !== null)) this.options.unknownMet();
  }
}
