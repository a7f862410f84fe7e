/** Customers. A customer that was deleted is remembered by its id alone. */
import type { Account } from "../account.ts";
import type { Customer } from "../shapes.ts";
import { noSuch } from "../wire/errors.ts";
import { listed, listParams, searched, searchParams } from "../wire/lists.ts";
import type { Params } from "../wire/params.ts";
import type { Endpoint } from "../wire/server.ts";

export function customerOf(account: Account, id: string, param: string): Customer {
  const customer = account.customers.get(id);
  if (customer === undefined) throw noSuch("customer", id, param);
  return customer;
}

/** @param ended what a deletion takes with it */
export function customers(account: Account, ended: (customer: string) => void): readonly Endpoint[] {
  const gone = new Set<string>();

  function create(params: Params): Customer {
    const clock = params.text("test_clock");
    if (clock !== null && !account.clocks.has(clock)) throw noSuch("test clock", clock, "test_clock");
    const id = account.newId("cus");
    const customer: Customer = {
      id,
      object: "customer",
      address: null,
      balance: 0,
      created: account.now(),
      currency: null,
      default_source: null,
      delinquent: false,
      description: params.text("description"),
      discount: null,
      email: params.text("email"),
      invoice_prefix: id.slice(-8).toUpperCase(),
      invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
      livemode: false,
      metadata: params.metadata(),
      name: params.text("name"),
      next_invoice_sequence: 1,
      phone: null,
      preferred_locales: [],
      shipping: null,
      tax_exempt: "none",
      test_clock: clock,
    };
    account.customers.set(id, customer);
    account.emit("customer.created", customer, id);
    return customer;
  }

  function update(params: Params, id: string): Customer {
    const former = customerOf(account, id, "id");
    const customer = {
      ...former,
      email: params.has("email") ? params.text("email") : former.email,
      name: params.has("name") ? params.text("name") : (former.name ?? null),
      description: params.has("description") ? params.text("description") : former.description,
      metadata: params.metadata(former.metadata),
    };
    account.customers.set(id, customer);
    account.emit("customer.updated", customer, id);
    return customer;
  }

  function remove(_params: Params, id: string) {
    const customer = customerOf(account, id, "id");
    ended(id);
    account.customers.delete(id);
    gone.add(id);
    account.emit("customer.deleted", customer);
    return { id, object: "customer", deleted: true };
  }

  function list(params: Params) {
    const email = params.text("email");
    const clock = params.text("test_clock");
    const rows = [...account.customers.values()].filter(
      (row) => (email === null || row.email === email) && row.test_clock === clock,
    );
    return listed("/v1/customers", rows, params);
  }

  const settable = ["email", "name", "description", "metadata"];
  return [
    { method: "POST", path: "/v1/customers", accepts: [...settable, "test_clock"], run: create },
    { method: "GET", path: "/v1/customers", accepts: [...listParams, "email", "test_clock"], run: list },
    {
      method: "GET",
      path: "/v1/customers/search",
      accepts: searchParams,
      run: (params) => searched("/v1/customers/search", [...account.customers.values()], params),
    },
    {
      method: "GET",
      path: "/v1/customers/:id",
      accepts: [],
      run: (_params, id) => (gone.has(id) ? { id, object: "customer", deleted: true } : customerOf(account, id, "id")),
    },
    { method: "POST", path: "/v1/customers/:id", accepts: settable, run: update },
    { method: "DELETE", path: "/v1/customers/:id", accepts: [], run: remove },
  ];
}
