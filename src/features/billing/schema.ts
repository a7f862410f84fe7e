/** Shapes of billing on the wire. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../../actors/kernel/schema.ts";

const Time = Type.String({ format: "date-time" });
const Tier = Type.Union([
  Type.Literal("free"),
  Type.Literal("pro"),
  Type.Literal("business"),
  Type.Literal("enterprise"),
]);

/** What a tenant has subscribed; the ids are the provider's. */
export const Subscription = Type.Object({
  tenant_id: Type.String(),
  tier: Tier,
  status: Type.String({ description: "The provider's word, or `none`", examples: ["active"] }),
  stripe_customer_id: Nullable(Type.String({ examples: ["cus_Qb1"] })),
  stripe_subscription_id: Nullable(Type.String({ examples: ["sub_1Qb"] })),
  current_period_end: Nullable(Time),
  cancel_at_period_end: Type.Boolean(),
  seat_count: Type.Integer({ description: "People there is room for, the owner counted", examples: [8] }),
  billing_interval: Nullable(Type.Union([Type.Literal("month"), Type.Literal("year")])),
  pending_change: Nullable(Type.Object({ target_tier: Tier, effective_at: Time })),
  updated_at: Nullable(Time),
});
export type SubscriptionBody = Static<typeof Subscription>;

/** By the names that the API document gives them. */
export const named = { BillingSubscription: Subscription };
