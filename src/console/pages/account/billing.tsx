/** The plan, what it costs to change it, and the invoices. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CreditCard, ExternalLink, Receipt } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input } from "../../kit/controls/field.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Facts, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Plans, priceText } from "./plans.tsx";

type Subscription = Schemas["BillingSubscription"];
type Invoice = Awaited<ReturnType<typeof invoicesOf>>["items"][number];

const invoicesOf = (cursor: string | undefined) =>
  answer(
    svc.GET("/v1/billing/invoices", { params: { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } } }),
  );

/** Whether the service takes no payments at all. */
const isOff = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 501 || error.code === "billing_not_configured");

export function Billing() {
  const subscription = useQuery({
    queryKey: ["billing", "subscription"],
    queryFn: () => answer(svc.GET("/v1/billing/subscription")),
  });
  if (isOff(subscription.error))
    return (
      <Page title="Billing">
        <Panel>
          <Empty icon={CreditCard} title="This service takes no payments">
            An operator connects Stripe by <code>SVC_STRIPE_SECRET_KEY</code>; tiers are set by operators until then.
          </Empty>
        </Panel>
      </Page>
    );
  return (
    <Page title="Billing" about="Your plan, its seats, and what was paid." actions={<Portal />}>
      {subscription.data !== undefined ? (
        <Current subscription={subscription.data} />
      ) : subscription.error !== null ? (
        <Trouble error={subscription.error} retry={() => void subscription.refetch()} />
      ) : (
        <Loading />
      )}
      <Plans
        current={subscription.data?.tier ?? null}
        hasSubscription={subscription.data?.stripe_subscription_id != null}
      />
      <Invoices />
    </Page>
  );
}

function Portal() {
  const can = useCan();
  const [busy, setBusy] = useState(false);
  if (!can("billing:write")) return null;
  const open = async () => {
    setBusy(true);
    try {
      const { url } = await answer(svc.POST("/v1/billing/portal", { params: {}, body: { return_url: location.href } }));
      location.assign(url);
    } catch (error) {
      tellError("The payment page does not open", error);
      setBusy(false);
    }
  };
  return (
    <Button busy={busy} onClick={() => void open()}>
      <ExternalLink aria-hidden />
      Payment method and address
    </Button>
  );
}

function Current({ subscription: one }: { readonly subscription: Subscription }) {
  const can = useCan();
  const [isSeats, seats] = useState(false);
  return (
    <Panel
      title="Your plan"
      beside={<Badge tone="info">{one.tier}</Badge>}
      actions={
        can("billing:write") &&
        one.stripe_subscription_id !== null && (
          <Button small onClick={() => seats(true)}>
            Change seats
          </Button>
        )
      }
    >
      <Facts
        columns={2}
        of={[
          ["Status", <Status key="status" status={one.status} />],
          ["Seats", one.seat_count],
          ["Paid", one.billing_interval === null ? "not at all" : `every ${one.billing_interval}`],
          [one.cancel_at_period_end ? "Ends" : "Renews", <Ago key="period" at={one.current_period_end} />],
          [
            "Pending",
            one.pending_change === null ? null : (
              <span key="pending">
                to {one.pending_change.target_tier} <Ago at={one.pending_change.effective_at} />
              </span>
            ),
          ],
        ]}
      />
      {isSeats && <Seats onClose={() => seats(false)} />}
    </Panel>
  );
}

function Seats({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const [count, setCount] = useState("0");
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Change seats"
      about="Seats beyond those that the plan includes. The difference is on the next invoice."
      verb="Change"
      disabled={!/^\d{1,4}$/.test(count)}
      onSend={async () => {
        const { seat_count } = await answer(
          svc.POST("/v1/billing/seats", { params: {}, body: { extra_seats: Number(count) } }),
        );
        tell("Seats changed", `${seat_count} in all`);
        await queries.invalidateQueries({ queryKey: ["billing"] });
      }}
    >
      <Input label="Extra seats" type="number" value={count} onChange={setCount} required />
    </FormDialog>
  );
}

function Invoices() {
  const list = useList(["billing", "invoices"], invoicesOf);
  const columns: readonly Column<Invoice>[] = [
    { id: "created", title: "Date", width: "8rem", cell: ({ created }) => <Ago at={created} /> },
    {
      id: "amount",
      title: "Amount",
      width: "8rem",
      right: true,
      cell: ({ amount_due, currency }) => priceText(amount_due, currency),
    },
    { id: "status", title: "Status", width: "8rem", cell: ({ status }) => <Status status={status ?? "pending"} /> },
    {
      id: "links",
      title: "",
      right: true,
      cell: ({ hosted_invoice_url, pdf_url }) => (
        <span className="inline-flex gap-3 text-accent">
          {hosted_invoice_url !== null && (
            <a href={hosted_invoice_url} target="_blank" rel="noreferrer">
              Open
            </a>
          )}
          {pdf_url !== null && (
            <a href={pdf_url} target="_blank" rel="noreferrer">
              PDF
            </a>
          )}
        </span>
      ),
    },
  ];
  return (
    <DataTable
      {...list}
      name="invoices"
      columns={columns}
      idOf={({ id }) => id}
      empty={<Empty icon={Receipt} title="No invoices yet" />}
    />
  );
}
