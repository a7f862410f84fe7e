/** A tenant's invoices, as the provider has them. */
import { invalidField } from "../../../../actors/kernel/problem.ts";
import { type Payment, PaymentFailure } from "../../../adapters/payment/port.ts";

export interface InvoiceShown {
  readonly id: string;
  readonly amountDue: number;
  readonly amountPaid: number;
  readonly currency: string;
  readonly status: string | null;
  /** Unix seconds. */
  readonly created: number;
  readonly pdfUrl: string | null;
  readonly hostedUrl: string | null;
}

export interface Invoices {
  /**
   * @param cursor of the page before; null: the newest
   * @throws Problem 422 for a cursor that is none of this list's; PaymentFailure
   */
  page(
    tenant: string,
    limit: number,
    cursor: string | null,
  ): Promise<{ readonly rows: readonly InvoiceShown[]; readonly next: string | null }>;
}

export interface InvoicesOptions {
  readonly payment: Payment;
  /** Null: the tenant is no customer. */
  readonly customerOf: (tenant: string) => Promise<string | null>;
}

export function createInvoices({ payment, customerOf }: InvoicesOptions): Invoices {
  return {
    async page(tenant, limit, cursor) {
      const after = cursor === null || cursor === "" ? null : idIn(cursor);
      const customer = await customerOf(tenant);
      if (customer === null) return { rows: [], next: null };
      const asked = { customer, limit, ...(after === null ? {} : { starting_after: after }) };
      const { data, has_more } = await payment
        .read("list invoices", (client, options) => client.invoices.list(asked, options))
        .catch((error: unknown) => {
          const isOfCursor = error instanceof PaymentFailure && error.kind === "missing" && after !== null;
          throw isOfCursor ? notACursor() : error;
        });
      const rows = data.map((invoice) => ({
        id: invoice.id,
        amountDue: invoice.amount_due,
        amountPaid: invoice.amount_paid,
        currency: invoice.currency,
        status: invoice.status,
        created: invoice.created,
        pdfUrl: invoice.invoice_pdf ?? null,
        hostedUrl: invoice.hosted_invoice_url ?? null,
      }));
      const last = has_more ? rows.at(-1) : undefined;
      return { rows, next: last === undefined ? null : Buffer.from(last.id).toString("base64url") };
    },
  };
}

const notACursor = () => invalidField("cursor", "is not a cursor of this list");

/** The id of the last invoice of the page before. */
function idIn(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (!/^[A-Za-z0-9_]{1,200}$/.test(id)) throw notACursor();
  return id;
}
