/** What the caller's tenant has subscribed. */
import { defineRoute, type Route } from "../../../http/route.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { Subscription } from "../schema.ts";
import { billingGate, billingSubject } from "../subject.ts";
import type { SubscriptionView } from "./view.ts";

export interface SubscriptionRouteOptions {
  readonly tenants: Pick<Tenants, "find">;
  readonly view: SubscriptionView;
  readonly isConfigured: boolean;
}

export function subscriptionRoutes({ tenants, view, isConfigured }: SubscriptionRouteOptions): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/billing/subscription",
      summary: "What the tenant has subscribed",
      scope: "billing:read",
      whileSuspended: true,
      configured: billingGate(isConfigured),
      responses: { 200: Subscription },
      refusals: ["billing_not_configured", "owner_only", "tenant_not_found"],
      handler: async (call) => view.of(await billingSubject(call, tenants)),
    }),
  ];
}
