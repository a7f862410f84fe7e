/** Whose usage is told to the payment provider. */
import type { Fragment } from "postgres";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

/** A query of `tenant` and `customer_id` of all that the provider knows. */
export const customersAtProvider = (sql: Sql | Transaction): Fragment =>
  sql`select tenant, customer_id from billing_customers`;
