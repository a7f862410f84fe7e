/**
 * How far a Map is: in its run, the child records that it has opened and the slots that each holds; in a child record,
 * the items that wait, that are at work and that did not end well.
 *
 * A slot is the right to have one item at work. The run has as many as the Map's concurrency; those that it has given to a
 * child record and not had back are that record's. Reports count from the beginning, so that one that comes twice or
 * late changes nothing.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../../kernel/schema.ts";

const Count = Type.Integer({ minimum: 0 });
/** The Wait among items whose time is up first; `expires_at` in Unix ms, null: it waits without an end. */
export const FirstWait = Type.Object({
  kind: Type.Union([Type.Literal("time"), Type.Literal("signal"), Type.Literal("stimulus")]),
  expires_at: Nullable(Type.Integer()),
});
export type FirstWait = Static<typeof FirstWait>;

/** Position in the list of items. */
export const Index = Type.Integer({ minimum: 0 });

/** What a child record says of itself. */
const told = {
  /** Of its last report; later ones have higher numbers. */
  seq: Count,
  succeeded: Count,
  failed: Count,
  cancelled: Count,
  /** Items that wait for a slot. */
  todo: Count,
  /** Slots that it gave back, all together. */
  returned: Count,
  /** Orders for single items that it has carried out or refused, all together. */
  orders: Count,
  /** Absent: no item of it waits. */
  wait: Type.Optional(FirstWait),
};

/** A child record as its run knows it; one whose items have all succeeded is no longer there. */
export const OpenBatch = Type.Object({
  id: Text,
  first: Index,
  size: Count,
  /** Slots that it was given, all together. */
  granted: Count,
  /** Orders for single items that it was sent, all together. */
  ordered: Count,
  ...told,
});
export type OpenBatch = Static<typeof OpenBatch>;

/** Of a run at a Map. */
export const mapWork = {
  /** `collecting`: all is over, and the results are put together. */
  phase: Type.Union([Type.Literal("running"), Type.Literal("collecting")]),
  total: Count,
  /** How many of the items, from the first on, child records were given. */
  handed: Count,
  /** Of the others, those that were cancelled. */
  skipped: Type.Array(Index),
  batches: Type.Array(OpenBatch),
  /** Of child records that are gone. */
  succeeded: Count,
  /** Whether more failed than is tolerated. */
  is_lost: Type.Boolean(),
  /** When progress was last told, Unix ms; null: not yet. */
  told_at: Nullable(Type.Integer()),
};

/** An item that did not end well; it can be tried again while the Map goes on. */
export const KeptItem = Type.Object({
  index: Index,
  status: Type.Union([Type.Literal("failed"), Type.Literal("cancelled")]),
  attempts: Count,
});
export type KeptItem = Static<typeof KeptItem>;

/** What becomes of an item, for those who list them. */
export const ItemRow = Type.Object({
  index: Index,
  status: Type.Union([
    Type.Literal("pending"),
    Type.Literal("running"),
    Type.Literal("completed"),
    Type.Literal("failed"),
    Type.Literal("cancelled"),
  ]),
  attempts: Count,
  /** As JSON; null: none. */
  result: Nullable(Text),
  /** A code. */
  error: Nullable(Text),
  /** The execution or run that it started. */
  execution_id: Nullable(Text),
});
export type ItemRow = Static<typeof ItemRow>;

/** Of a child record, beside its lines. */
export const batchWork = {
  slots: Count,
  /** In the order in which they begin. */
  todo: Type.Array(Index),
  /** Attempts that those in `todo` and at work have had before they were tried again by order; absent ones: none. */
  earlier: Type.Record(Text, Count),
  kept: Type.Array(KeptItem),
  /** News of this turn; empty between turns. */
  news: Type.Array(ItemRow),
  seq: Count,
  succeeded: Count,
  returned: Count,
  orders: Count,
  /** What the run was last told, and when, Unix ms. */
  told: Type.Object({
    succeeded: Count,
    failed: Count,
    cancelled: Count,
    orders: Count,
    at: Type.Integer(),
    wait: Type.Optional(FirstWait),
  }),
};

/** What a child record tells its run. */
export const Report = Type.Object({
  batch: Text,
  ...told,
  /** All have succeeded, and it is gone. */ is_gone: Type.Boolean(),
});
export type Report = Static<typeof Report>;

const MapProgress = Type.Object(mapWork);
type MapProgress = Static<typeof MapProgress>;

/** Slots that are not given away. */
export const freeSlots = (concurrency: number, batches: readonly OpenBatch[]): number =>
  batches.reduce((free, { granted, returned }) => free - (granted - returned), concurrency);

/** How the items of a Map stand. */
export function counts({ batches, succeeded, skipped }: Pick<MapProgress, "batches" | "succeeded" | "skipped">) {
  const sum = (of: (batch: OpenBatch) => number) => batches.reduce((all, batch) => all + of(batch), 0);
  return {
    succeeded: succeeded + sum((batch) => batch.succeeded),
    failed: sum((batch) => batch.failed),
    cancelled: skipped.length + sum((batch) => batch.cancelled),
  };
}

/** Whether no order is under way that may change how the items stand. */
export const isOrdered = ({ batches }: Pick<MapProgress, "batches">): boolean =>
  batches.every(({ ordered, orders }) => ordered === orders);

/** Whether every item has come to an end. */
export function isComplete(work: Pick<MapProgress, "total" | "batches" | "succeeded" | "skipped">): boolean {
  const { succeeded, failed, cancelled } = counts(work);
  return succeeded + failed + cancelled === work.total;
}

/** Whether more have failed than the Map tolerates. */
export function isTooMany(
  failed: number,
  total: number,
  tolerate: { readonly count: number } | { readonly percent: number },
): boolean {
  return "count" in tolerate ? failed > tolerate.count : failed * 100 > tolerate.percent * total;
}

/** The child records after a report; one that is not the newest changes nothing. */
export function reported(batches: readonly OpenBatch[], { batch: id, is_gone, ...said }: Report): OpenBatch[] {
  return batches.flatMap((batch) => {
    if (batch.id !== id || said.seq <= batch.seq) return [batch];
    const { wait: _, ...had } = batch;
    return is_gone ? [] : [{ ...had, ...said }];
  });
}
