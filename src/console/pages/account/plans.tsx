/** The plans side by side, and changing to one with what it costs shown before. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { classes } from "../../kit/controls/classes.ts";
import { Select } from "../../kit/controls/field.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { Facts, Loading, Trouble } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Tier = "free" | "pro" | "business" | "enterprise";
type Interval = "month" | "year";
type Plan = Awaited<ReturnType<typeof prices>>["tiers"][number];

const prices = () => answer(svc.GET("/v1/billing/prices"));

/** @param minor in the smallest unit of the currency */
export function priceText(minor: number, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency: currency.toUpperCase() });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(minor / 10 ** digits);
}

interface PlansProps {
  readonly current: Tier | null;
  readonly hasSubscription: boolean;
}

export function Plans({ current, hasSubscription }: PlansProps) {
  const can = useCan();
  const [interval, setInterval] = useState<Interval>("month");
  const [target, choose] = useState<Tier | null>(null);
  const { data, error } = useQuery({ queryKey: ["billing", "prices"], queryFn: prices });
  if (error !== null) return <Trouble error={error} />;
  if (data === undefined) return <Loading />;
  const buy = async (plan: Plan) => {
    const price = interval === "month" ? plan.monthly : plan.annual;
    if (price === null) return;
    try {
      const body = { price_id: price.price_id, tier: plan.tier, success_url: location.href, cancel_url: location.href };
      const { url } = await answer(svc.POST("/v1/billing/checkout", { params: {}, body }));
      location.assign(url);
    } catch (failure) {
      tellError("The checkout does not open", failure);
    }
  };
  return (
    <section className="flex flex-col gap-3">
      <div className="flex items-end justify-between gap-3">
        <h2 className="m-0 font-semibold text-base">Plans</h2>
        <Select
          quiet
          label="Paid"
          value={interval}
          choices={[
            { value: "month", label: "Paid monthly" },
            { value: "year", label: "Paid yearly" },
          ]}
          onChange={(next) => setInterval(next as Interval)}
          className="w-36"
        />
      </div>
      <ul className="m-0 grid list-none gap-3 p-0 md:grid-cols-3">
        {data.tiers.map((plan) => {
          const price = interval === "month" ? plan.monthly : plan.annual;
          const isCurrent = plan.tier === current;
          return (
            <li
              key={plan.tier}
              className={classes(
                "flex flex-col gap-2 rounded-panel border bg-surface p-4",
                isCurrent ? "border-accent" : "border-line",
              )}
            >
              <div className="flex items-center gap-2">
                <span className="font-semibold">{plan.name}</span>
                {isCurrent && (
                  <Badge tone="info">
                    <Check aria-hidden className="size-3" /> your plan
                  </Badge>
                )}
              </div>
              <p className="m-0 text-lg tabular-nums">
                {price === null ? "on request" : priceText(price.amount, price.currency)}
                {price !== null && <span className="text-ink-soft text-xs"> a {interval}</span>}
              </p>
              <p className="m-0 flex-1 text-ink-soft text-xs">
                {plan.description} {plan.included_seats} seats included.
              </p>
              {can("billing:write") && !isCurrent && price !== null && (
                <Button look="primary" onClick={() => (hasSubscription ? choose(plan.tier) : void buy(plan))}>
                  Change to {plan.name}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {target !== null && <Change target={target} interval={interval} onClose={() => choose(null)} />}
    </section>
  );
}

function Change({
  target,
  interval,
  onClose,
}: {
  readonly target: Tier;
  readonly interval: Interval;
  readonly onClose: () => void;
}) {
  const queries = useQueryClient();
  const body = { target_tier: target, billing_interval: interval };
  const preview = useQuery({
    queryKey: ["billing", "preview", target, interval],
    queryFn: () => answer(svc.POST("/v1/billing/preview-tier-change", { params: {}, body })),
    staleTime: 0,
  });
  const told = preview.data;
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Change to ${target}?`}
      about="This is what it costs."
      verb="Change the plan"
      onConfirm={async () => {
        if (told === undefined) throw new Error("The price is not known yet");
        await answer(
          svc.POST("/v1/billing/change-tier", { params: {}, body: { ...body, proration_date: told.proration_date } }),
        );
        tell("The plan changes", target);
        await queries.invalidateQueries({ queryKey: ["billing"] });
      }}
    >
      {preview.error !== null && <Trouble error={preview.error} />}
      {told === undefined ? (
        <Loading lines={3} />
      ) : (
        <Facts
          of={[
            ["Now", priceText(told.proration_amount_cents, told.currency)],
            ["Each renewal", priceText(told.next_renewal_amount_cents, told.currency)],
            ["Seats", told.seats],
            ["Takes effect", told.effective_at === null ? "at once" : <Ago key="effective" at={told.effective_at} />],
          ]}
        />
      )}
    </Confirm>
  );
}
