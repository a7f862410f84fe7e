/** Works stored events through: any node may, one has an event at a time, and what a node leaves unfinished comes again. */
import {
  hear,
  isPlainlyPaid,
  type ProviderEvent,
  paidAt,
  readEvent,
  type Subject,
  type Task,
  taskOf,
} from "../../../../actors/billing/events.ts";
import { systemTenant } from "../../../../actors/identity/identity.ts";
import { isTenantSlug } from "../../../../actors/identity/tenant.ts";
import { madeStorable } from "../../../../actors/manifest/storable.ts";
import { isDatabaseUnavailable, type Sql, type Transaction } from "../../../store/postgres/pool.ts";
import type { Incidents } from "../../incidents/port.ts";
import type { ProviderSubscriptions } from "../subscriptions/provider.ts";
import { linkCustomer, requireUnlinked, subscriptionById, tenantOfCustomer } from "../subscriptions/records.ts";
import { type Changed, type Drift, type Subscriptions, UnknownTenant } from "../subscriptions/service.ts";
import {
  type ClaimedEvent,
  ClaimLost,
  claimEvents,
  type Outcome,
  postponeEvent,
  renewClaims,
  renewEveryMs,
  settleEvent,
} from "./records.ts";

export interface ProcessingOptions {
  readonly sql: Sql;
  readonly provider: ProviderSubscriptions;
  readonly subscriptions: Subscriptions;
  readonly incidents: Pick<Incidents, "record">;
  readonly drift: Drift;
  readonly counted: (outcome: Outcome | "failed") => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** Of one event; then it is dead. */
const maxAttempts = 8;
/** Behind the first attempt that failed, ms; behind each further one four times as long, so that an outage of hours is outlived. */
const firstPauseMs = 5_000;
/** Claimed at once, and worked on side by side. */
const atOnce = 40;
const sideBySide = 8;

/** Works through what is due; what is not begun when `isEnding` goes to another node. @returns whether there may be more */
export type Processing = (isEnding: () => boolean) => Promise<boolean>;

export function createProcessing(options: ProcessingOptions): Processing {
  const { sql, provider, subscriptions, drift, counted, warn } = options;

  /** By its customer, then by what was written when it was made. Null: no tenant here has it. */
  async function tenantOf({ subscription, customer, metadataTenant, reference }: Subject): Promise<string | null> {
    const linked = customer === null ? null : await tenantOfCustomer(sql, customer);
    const known =
      linked ?? (subscription === null ? null : ((await subscriptionById(sql, subscription))?.tenant ?? null));
    const named = [known, metadataTenant, reference].find((slug) => slug !== null && isTenantSlug(slug)) ?? null;
    return named === systemTenant ? null : named;
  }

  async function apply(claimed: ClaimedEvent, event: ProviderEvent, task: Exclude<Task, { task: "ignore" }>) {
    const { subject } = task;
    const tenant = await tenantOf(subject);
    if (tenant === null) throw new UnknownTenant(null);
    const within = async (tx: Transaction) => {
      if (subject.customer !== null) await linkCustomer(tx, tenant, subject.customer);
      await settleEvent(tx, claimed, "applied", { tenant });
    };
    const changed = await (task.task === "apply"
      ? applyEmbedded(tenant, event, task, within)
      : applyRead(tenant, event, task, within));
    if (!changed.mustEnd) return;
    // What was bought for a tenant that was deleted meanwhile is not charged; a comparison tries it again.
    await subscriptions.cancelAll(tenant).catch((error: unknown) => {
      warn("billing_cancellation", { tenant, error: String(error) });
    });
  }

  async function applyEmbedded(
    tenant: string,
    { at }: ProviderEvent,
    { seen, isDeletion }: Extract<Task, { task: "apply" }>,
    within: (tx: Transaction) => Promise<void>,
  ): Promise<Changed> {
    const facts = await provider.factsOf(seen);
    let mustAsk = false;
    const changed = await subscriptions.change({
      tenant,
      id: seen.id,
      decide(known) {
        const heard = hear(known, { by: "event", at, facts, isDeletion });
        mustAsk = heard.outcome === "ask";
        return heard.outcome === "ask" ? null : heard.subscription;
      },
      within: async (tx) => (mustAsk ? undefined : within(tx)),
    });
    if (!mustAsk) return changed;
    return subscriptions.readBack(tenant, seen.id, { at, said: facts.status, cause: "doubt", invoice: null }, within);
  }

  async function applyRead(
    tenant: string,
    { at }: ProviderEvent,
    { subscription: id, cause, invoice }: Extract<Task, { task: "read" }>,
    within: (tx: Transaction) => Promise<void>,
  ): Promise<Changed> {
    if (cause === "paid") {
      let isPlain = false;
      const changed = await subscriptions.change({
        tenant,
        id,
        decide(known) {
          isPlain = isPlainlyPaid(known);
          return isPlainlyPaid(known) ? paidAt(known, at) : null;
        },
        within: async (tx) => (isPlain ? within(tx) : undefined),
      });
      if (isPlain) return changed;
    }
    return subscriptions.readBack(tenant, id, { at, cause, invoice }, within);
  }

  async function take(claimed: ClaimedEvent): Promise<Outcome> {
    const event = readEvent(JSON.parse(claimed.body));
    const task: Task = event === null ? { task: "ignore" } : taskOf(event);
    if (event === null || task.task === "ignore") {
      await settleEvent(sql, claimed, "ignored");
      return "ignored";
    }
    try {
      await apply(claimed, event, task);
      return "applied";
    } catch (error) {
      if (!(error instanceof UnknownTenant)) throw error;
      const { customer, subscription: subscription_id } = task.subject;
      await sql.begin(async (tx) => {
        if (customer !== null) await requireUnlinked(tx, customer, error.tenant);
        await settleEvent(tx, claimed, "unmatched");
        await drift(tx, systemTenant, { reason: "unmatched", type: event.type, customer, subscription_id });
      });
      return "unmatched";
    }
  }

  async function work(claimed: ClaimedEvent): Promise<void> {
    try {
      counted(await take(claimed));
    } catch (error) {
      await failed(claimed, error).catch((further: unknown) => {
        if (!(further instanceof ClaimLost)) warn("billing_event", { event: claimed.id, error: String(further) });
      });
    }
  }

  async function failed(claimed: ClaimedEvent, error: unknown): Promise<void> {
    if (error instanceof ClaimLost) return;
    const { id, attempts } = claimed;
    // The error's own words may be the provider's: they are for the log and for operators who look at the table.
    const text = madeStorable(String(error).slice(0, 500));
    warn("billing_event", { event: id, attempts, error: text });
    // It goes to the next node once the claim is over.
    if (isDatabaseUnavailable(error)) return;
    if (attempts < maxAttempts) {
      counted("failed");
      return postponeEvent(sql, claimed, firstPauseMs * 4 ** (attempts - 1), text);
    }
    await sql.begin(async (tx) => {
      await settleEvent(tx, claimed, "dead", { error: text });
      await options.incidents.record(tx, {
        category: "billing_event_failed",
        tenant: systemTenant,
        agentId: null,
        executionId: null,
        sessionId: null,
        toolName: null,
        violationType: null,
        details: { event_id: id },
      });
    });
    counted("dead");
  }

  return async (isEnding) => {
    const claimed = await claimEvents(sql, atOnce);
    if (claimed.length === 0) return false;
    const open = new Set(claimed);
    const renewal = setInterval(() => {
      renewClaims(sql, [...open]).catch((error: unknown) => warn("billing_events", { error: String(error) }));
    }, renewEveryMs);
    // Those of one customer one after the other; the body names it before anything else is known of it.
    const lanes = [...Map.groupBy(claimed, laneOf).values()];
    const next = async (): Promise<void> => {
      for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift())
        for (const one of lane) {
          if (isEnding()) return;
          await work(one);
          open.delete(one);
        }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(sideBySide, lanes.length) }, next));
    } finally {
      clearInterval(renewal);
    }
    return claimed.length === atOnce;
  };
}

const laneOf = ({ customer, id }: ClaimedEvent): string => customer ?? id;
