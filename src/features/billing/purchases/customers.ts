/** Customers: a tenant has one at the provider, however often its making is tried. */
import { type Payment, PaymentFailure } from "../../../adapters/payment/port.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { customerOf, linkCustomer } from "../subscriptions/records.ts";

/** Whom the provider may write to, and who began it. */
export interface Buyer {
  /** Null: not known. */
  readonly email: string | null;
  readonly sub: string;
}

/** What a customer is made with. A repetition under the same key must say the same. */
interface Draft extends Buyer {
  readonly key: string;
  /** Unix seconds by the database. */
  readonly at?: number;
}

/**
 * How long a draft holds, seconds: the provider's search knows by then what it became, and the provider repeats an error of
 * its own for a day under the same key.
 */
const draftSeconds = 3_600;

export interface CustomersOptions {
  readonly sql: Sql;
  readonly payment: Payment;
  /** A fresh UUID. */
  readonly newId: () => string;
}

export interface Customers {
  /**
   * In the tenant's turn: the customer that is known, else one that the provider has for the tenant, else a new one.
   * @throws PaymentFailure
   */
  ensure(tenant: string, buyer: Buyer): Promise<string>;
  /**
   * Uses the tenant's customer, and another one in its place where it was deleted at the provider.
   * @throws PaymentFailure
   */
  use<T>(tenant: string, buyer: Buyer, work: (customer: string) => Promise<T>): Promise<T>;
}

export function createCustomers({ sql, payment, newId }: CustomersOptions): Customers {
  const known = (tenant: string) => customerOf(sql, tenant);

  /** The oldest that says so of itself: the provider's search lags behind by up to a minute, so that it may miss one. */
  async function found(tenant: string): Promise<string | null> {
    // A tenant's name has no characters that the query language knows.
    const query = `metadata["tenant_id"]:"${tenant}"`;
    const { data } = await payment.read("search customers", (client, options) =>
      client.customers.search({ query, limit: 100 }, options),
    );
    const others = await sql<{ customer_id: string }[]>`
      select customer_id from billing_customers where customer_id in ${sql(["", ...data.map(({ id }) => id)])}`;
    const taken = new Set(others.map(({ customer_id }) => customer_id));
    const mine = data.filter(({ id, metadata }) => metadata.tenant_id === tenant && !taken.has(id));
    return mine.toSorted((one, other) => one.created - other.created)[0]?.id ?? null;
  }

  /** What is written down before the provider is asked. */
  async function drafted(tenant: string, buyer: Buyer): Promise<Draft> {
    const draft: Draft = { ...buyer, key: newId() };
    const [row] = await sql<{ customer_draft: Draft }[]>`
      insert into billing_turns as t (tenant, customer_draft)
      values (${tenant}, ${sql.json({ ...draft })}::jsonb || jsonb_build_object('at', extract(epoch from now())::bigint))
      on conflict (tenant) do update set customer_draft =
        case when (t.customer_draft->>'at')::bigint > extract(epoch from now()) - ${draftSeconds}::integer
          then t.customer_draft else excluded.customer_draft end
      returning customer_draft`;
    return row?.customer_draft ?? draft;
  }

  const discard = (tx: Sql | Transaction, tenant: string) =>
    tx`update billing_turns set customer_draft = null where tenant = ${tenant}`;

  async function made(tenant: string, buyer: Buyer): Promise<string> {
    const { email, sub, key } = await drafted(tenant, buyer);
    const metadata = { tenant_id: tenant, user_sub: sub };
    try {
      const { id } = await payment.write("create customer", `customer.${key}`, (client, options) =>
        client.customers.create({ metadata, ...(email === null ? {} : { email }) }, options),
      );
      return id;
    } catch (error) {
      if (!(error instanceof PaymentFailure) || error.kind !== "refused") throw error;
      // It made none, and would not of the same draft again. An address is what it may refuse: the page asks for one.
      await discard(sql, tenant);
      if (email === null) throw error;
      return made(tenant, { ...buyer, email: null });
    }
  }

  async function ensure(tenant: string, buyer: Buyer): Promise<string> {
    const stored = await known(tenant);
    if (stored !== null) return stored;
    const customer = (await found(tenant)) ?? (await made(tenant, buyer));
    return sql.begin(async (tx) => {
      await discard(tx, tenant);
      // A checkout that was completed meanwhile may have told of another one first.
      return linkCustomer(tx, tenant, customer);
    });
  }

  /** Whether the provider has it no more. */
  async function isGone(customer: string): Promise<boolean> {
    const { deleted } = await payment.read("read customer", (client, options) =>
      client.customers.retrieve(customer, {}, options),
    );
    return deleted === true;
  }

  return {
    ensure,
    async use(tenant, buyer, work) {
      const customer = await ensure(tenant, buyer);
      try {
        return await work(customer);
      } catch (error) {
        const isMissing = error instanceof PaymentFailure && error.kind === "missing";
        if (!isMissing || !(await isGone(customer))) throw error;
      }
      await sql`delete from billing_customers where tenant = ${tenant} and customer_id = ${customer}`;
      return work(await ensure(tenant, buyer));
    },
  };
}
