/** Changes of what a tenant has subscribed: its tier, its seats. */

import type { PaidTier } from "../../../../actors/billing/catalogue.ts";
import {
  type ChangeAction,
  isChangeable,
  isStale,
  itemChanges,
  type Shape,
  seatChange,
  type TierChange,
  type TierWish,
  tierChange,
} from "../../../../actors/billing/changes.ts";
import { seatCount } from "../../../../actors/billing/standing.ts";
import type { Facts } from "../../../../actors/billing/subscription.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { PaymentFailure } from "../../../adapters/payment/port.ts";
import type { CatalogueService } from "../catalogue/service.ts";
import { askingProvider, requireSold } from "../problems.ts";
import type { Charged, SubscriptionChanges } from "./provider.ts";
import type { Purchase } from "./purchase.ts";
import type { InTurn } from "./turns.ts";

export interface ChangesOptions {
  readonly provider: SubscriptionChanges;
  readonly catalogue: CatalogueService;
  readonly inTurn: InTurn;
  /** The subscription that counts for a tenant, read at the provider and applied; null: there is none. */
  readonly current: (tenant: string) => Promise<Facts | null>;
  /** People whom the tenant's plan pays for. */
  readonly people: (tenant: string) => Promise<number>;
  /** Unix seconds. */
  readonly now: () => number;
}

type Known = Facts & { readonly tier: PaidTier };

export interface TierPreview {
  readonly action: ChangeAction;
  readonly due: number;
  readonly renewal: number;
  readonly currency: string;
  /** Unix seconds; null: nothing changes. */
  readonly effectiveAt: number | null;
  readonly seats: number;
  /** Unix seconds. */
  readonly previewedAt: number;
}

export interface TierChanged {
  readonly action: ChangeAction;
  readonly seats: number;
  readonly invoice: { readonly id: string; readonly total: number } | null;
  /** Unix seconds; null: nothing changed. */
  readonly effectiveAt: number | null;
}

export interface Changes {
  /** Problem 404 `no_subscription`, 422 for what is not sold. */
  preview(subject: string, wish: TierWish): Promise<TierPreview>;
  /** @param previewedAt Unix seconds; null: there was no preview. Problem as above; 402, 409, 422 `stale_preview`. */
  changeTier(purchase: Purchase, wish: TierWish, previewedAt: number | null): Promise<TierChanged>;
  /** So many seats beside the included ones. Problem as above. @returns people there is room for */
  changeSeats(purchase: Purchase, extraSeats: number, seatPriceId: string | null): Promise<number>;
}

export function createChanges({ provider, catalogue, inTurn, current, people, now }: ChangesOptions): Changes {
  async function subscribed(subject: string): Promise<Known> {
    const facts = await current(subject);
    if (facts !== null && facts.tier !== null && isChangeable(facts.status)) return { ...facts, tier: facts.tier };
    throw new Problem("no_subscription", "There is no subscription that could be changed");
  }

  /** Seats that are given up must not be those of members. */
  async function requireRoom(subject: string, facts: Known, seats: number): Promise<void> {
    if (seats >= seatCount(facts)) return;
    const used = await people(subject);
    if (used <= seats) return;
    throw new Problem("seats_in_use", `${used} people are members`, { members_used: used, seats });
  }

  async function decided(facts: Known, wish: TierWish): Promise<TierChange> {
    const { catalogue: sold } = await catalogue.sold();
    return requireSold(tierChange(facts, wish, sold));
  }

  /** What was done at the provider is done, also where it cannot be read back now: then an event tells of it. */
  async function applied(subject: string): Promise<void> {
    await current(subject).catch((error: unknown) => {
      if (!(error instanceof PaymentFailure)) throw error;
    });
  }

  /** A change that is had at once. @throws Problem 402 where it is not paid; then all is as it was */
  async function paid(subject: string, facts: Known, shape: Shape, at: number | null, work: string): Promise<Charged> {
    const charged = await provider.upgrade(facts, itemChanges(facts, shape), at, work).catch((error: unknown) => {
      if (error instanceof PaymentFailure && error.kind === "declined") throw unpaid(null);
      throw error;
    });
    await applied(subject);
    if (charged.isPending) throw unpaid(charged);
    return charged;
  }

  /** What stands in the way of a change: it replaces what was to come. */
  async function cleared(facts: Known, work: string, isKept: boolean): Promise<void> {
    await provider.release(facts, work);
    if (isKept) await provider.keep(facts, work);
  }

  async function apply(
    subject: string,
    facts: Known,
    change: TierChange,
    at: number | null,
    work: string,
  ): Promise<Charged["invoice"]> {
    switch (change.action) {
      case "no_change":
        await cleared(facts, work, true);
        break;
      case "cancel_at_period_end":
        await cleared(facts, work, false);
        if (!facts.cancelAtPeriodEnd) await provider.cancelAtPeriodEnd(facts, work);
        break;
      case "downgrade_at_period_end":
        await cleared(facts, work, true);
        await provider.schedule(facts, change.shape, work);
        break;
      case "upgrade_immediate":
        await cleared(facts, work, false);
        return (await paid(subject, facts, change.shape, at, work)).invoice;
    }
    await applied(subject);
    return null;
  }

  /** Does a change of the tier, on record; where nothing changes nothing is done. */
  async function perform(
    { subject, work, began }: Purchase,
    facts: Known,
    change: TierChange,
    at: number | null,
  ): Promise<Charged["invoice"]> {
    if (change.action !== "cancel_at_period_end") await requireRoom(subject, facts, change.shape.seats);
    if (change.action === "no_change" && facts.schedule === null && facts.pending === null) return null;
    await began();
    return apply(subject, facts, change, at, work);
  }

  function effectiveAt(facts: Known, { action }: TierChange, at: number): number | null {
    if (action === "no_change") return null;
    return action === "upgrade_immediate" ? at : facts.periodEnd;
  }

  return {
    preview: (subject, wish) =>
      askingProvider(async () => {
        const facts = await subscribed(subject);
        const change = await decided(facts, wish);
        const asked = now();
        if (change.action === "cancel_at_period_end") {
          const { currency } = await provider.quoteRecurring(facts, []);
          const effective = { effectiveAt: effectiveAt(facts, change, asked), previewedAt: asked };
          return { action: change.action, due: 0, renewal: 0, currency, seats: seatCount(facts), ...effective };
        }
        const items = itemChanges(facts, change.shape);
        const [renewal, due] = await Promise.all([
          provider.quoteRecurring(facts, items),
          change.action === "upgrade_immediate" ? provider.quoteNow(facts, items, asked) : null,
        ]);
        const previewedAt = due?.at ?? asked;
        return {
          action: change.action,
          due: due?.total ?? 0,
          renewal: renewal.total,
          currency: renewal.currency,
          effectiveAt: effectiveAt(facts, change, previewedAt),
          seats: change.shape.seats,
          previewedAt,
        };
      }),

    changeTier: (purchase, wish, previewedAt) =>
      askingProvider(() =>
        inTurn(purchase.subject, async () => {
          const facts = await subscribed(purchase.subject);
          if (previewedAt !== null && isStale(previewedAt, now())) {
            throw new Problem(
              "stale_preview",
              "The preview is over ten minutes old, or ahead of the time here: ask for another one",
            );
          }
          const change = await decided(facts, wish);
          const invoice = await perform(purchase, facts, change, previewedAt);
          const seats = change.action === "cancel_at_period_end" ? seatCount(facts) : change.shape.seats;
          return {
            action: change.action,
            seats,
            invoice,
            effectiveAt: effectiveAt(facts, change, previewedAt ?? now()),
          };
        }),
      ),

    changeSeats: ({ subject, work, began }, extraSeats, seatPriceId) =>
      askingProvider(() =>
        inTurn(subject, async () => {
          const facts = await subscribed(subject);
          const { catalogue: sold } = await catalogue.sold();
          const shape = requireSold(seatChange(facts, extraSeats, seatPriceId, sold));
          const items = itemChanges(facts, shape);
          await requireRoom(subject, facts, shape.seats);
          if (items.length === 0) return shape.seats;
          await began();
          await cleared(facts, work, extraSeats < facts.extraSeats);
          if (extraSeats < facts.extraSeats) {
            await provider.reduce(facts, items, work);
            await applied(subject);
          } else await paid(subject, facts, shape, null, work);
          return shape.seats;
        }),
      ),
  };
}

function unpaid(charged: Charged | null): Problem {
  return new Problem("payment_failed", "The payment failed; nothing was changed", {
    invoice_id: charged?.invoice?.id ?? null,
    hosted_invoice_url: charged?.invoice?.hostedUrl ?? null,
  });
}
