/** Products and their prices. */
import type { Account } from "../account.ts";
import type { Plan, Price } from "../shapes.ts";
import { invalid, noSuch } from "../wire/errors.ts";
import { listed, listParams } from "../wire/lists.ts";
import type { Params } from "../wire/params.ts";
import type { Endpoint } from "../wire/server.ts";

export function priceOf(account: Account, id: string, param: string): Price {
  const price = account.prices.get(id);
  if (price === undefined) throw noSuch("price", id, param);
  return price;
}

/** The older face of a price, which items still have. */
export function planOf(price: Price): Plan {
  const { recurring } = price;
  if (recurring === null) throw invalid("The price specified is not recurring.", "items");
  return {
    id: price.id,
    object: "plan",
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: price.billing_scheme,
    created: price.created,
    currency: price.currency,
    interval: recurring.interval,
    interval_count: recurring.interval_count,
    livemode: false,
    metadata: price.metadata,
    meter: recurring.meter,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: recurring.trial_period_days,
    usage_type: recurring.usage_type,
  };
}

export function catalogue(account: Account): readonly Endpoint[] {
  function createProduct(params: Params) {
    const now = account.now();
    const id = params.text("id") ?? account.newId("prod");
    const product = {
      id,
      object: "product" as const,
      active: params.flag("active") ?? true,
      created: now,
      default_price: null,
      description: params.text("description"),
      images: [],
      livemode: false,
      marketing_features: [],
      metadata: params.metadata(),
      name: params.requireText("name"),
      package_dimensions: null,
      shippable: null,
      tax_code: null,
      tax_details: null,
      type: "service" as const,
      updated: now,
      url: null,
    };
    account.products.set(id, product);
    account.emit("product.created", product);
    return product;
  }

  function createPrice(params: Params) {
    const product = params.requireText("product");
    if (!account.products.has(product)) throw noSuch("product", product, "product");
    const amount = params.integer("unit_amount");
    const recurring = params.object("recurring")?.only(["interval", "interval_count", "usage_type", "meter"]) ?? null;
    const price: Price = {
      id: account.newId("price"),
      object: "price",
      active: params.flag("active") ?? true,
      billing_scheme: "per_unit",
      created: account.now(),
      currency: params.requireText("currency"),
      custom_unit_amount: null,
      livemode: false,
      lookup_key: params.text("lookup_key"),
      metadata: params.metadata(),
      nickname: params.text("nickname"),
      product,
      recurring:
        recurring === null
          ? null
          : {
              interval: recurring.choice("interval", ["day", "week", "month", "year"], "month"),
              interval_count: recurring.integer("interval_count") ?? 1,
              meter: recurring.text("meter"),
              trial_period_days: null,
              usage_type: recurring.choice("usage_type", ["licensed", "metered"], "licensed"),
            },
      tax_behavior: "unspecified",
      tiers_mode: null,
      transform_quantity: null,
      type: recurring === null ? "one_time" : "recurring",
      unit_amount: amount,
      unit_amount_decimal: amount === null ? null : String(amount),
    };
    account.prices.set(price.id, price);
    account.emit("price.created", price);
    return price;
  }

  function listProducts(params: Params) {
    const active = params.flag("active");
    const rows = [...account.products.values()].filter((row) => active === null || row.active === active);
    return listed("/v1/products", rows, params);
  }

  function listPrices(params: Params) {
    const active = params.flag("active");
    const type = params.text("type");
    const product = params.text("product");
    const recurring = params.object("recurring")?.only(["interval", "meter", "usage_type"]) ?? null;
    const usage = recurring?.text("usage_type") ?? null;
    const interval = recurring?.text("interval") ?? null;
    const rows = [...account.prices.values()].filter(
      (row) =>
        (active === null || row.active === active) &&
        (type === null || row.type === type) &&
        (product === null || row.product === product) &&
        (usage === null || row.recurring?.usage_type === usage) &&
        (interval === null || row.recurring?.interval === interval),
    );
    return listed("/v1/prices", rows, params);
  }

  function updateProduct(params: Params, id: string) {
    const former = account.products.get(id);
    if (former === undefined) throw noSuch("product", id);
    const product = {
      ...former,
      active: params.flag("active") ?? former.active,
      name: params.text("name") ?? former.name,
      description: params.has("description") ? params.text("description") : former.description,
      metadata: params.metadata(former.metadata),
      updated: account.now(),
    };
    account.products.set(id, product);
    account.emit("product.updated", product);
    return product;
  }

  function updatePrice(params: Params, id: string) {
    const former = priceOf(account, id, "id");
    const price = {
      ...former,
      active: params.flag("active") ?? former.active,
      metadata: params.metadata(former.metadata),
    };
    account.prices.set(id, price);
    account.emit("price.updated", price);
    return price;
  }

  function productOf(_params: Params, id: string) {
    const product = account.products.get(id);
    if (product === undefined) throw noSuch("product", id);
    return product;
  }

  return [
    { method: "GET", path: "/v1/products/:id", accepts: [], run: productOf },
    {
      method: "POST",
      path: "/v1/products",
      accepts: ["id", "name", "description", "active", "metadata"],
      run: createProduct,
    },
    { method: "GET", path: "/v1/products", accepts: [...listParams, "active"], run: listProducts },
    {
      method: "POST",
      path: "/v1/products/:id",
      accepts: ["name", "description", "active", "metadata"],
      run: updateProduct,
    },
    {
      method: "POST",
      path: "/v1/prices",
      accepts: ["product", "currency", "unit_amount", "recurring", "active", "metadata", "lookup_key", "nickname"],
      run: createPrice,
    },
    {
      method: "GET",
      path: "/v1/prices",
      accepts: [...listParams, "active", "type", "product", "recurring"],
      run: listPrices,
    },
    { method: "GET", path: "/v1/prices/:id", accepts: [], run: (_params, id) => priceOf(account, id, "id") },
    { method: "POST", path: "/v1/prices/:id", accepts: ["active", "metadata"], run: updatePrice },
  ];
}
