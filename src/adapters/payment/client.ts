/**
 * The payment provider's official client. It is loaded when the first call needs it, so that a node without calls has
 * neither its code nor its memory.
 */
import type { Stripe } from "stripe";
import type { Secret } from "../../lib/secret.ts";
import { PaymentFailure, seenAs } from "./failure.ts";
import { paymentFetch } from "./transport.ts";

/** The version of the provider's API that requests name and whose shapes answers have. */
const paymentApiVersion = "2026-10-28.endive";

/** One call and its repetition together, ms. */
const defaultTimeoutMs = 20_000;
/** Of one list, over all pages. */
const maxListed = 10_000;
const pageSize = 100;

export type PaymentClient = Stripe;

export interface PaymentOptions {
  readonly secretKey: Secret;
  /** Origin. */
  readonly apiBase: string;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly timeoutMs?: number;
}

/** What each request of a read carries. */
interface Reading {
  readonly timeout: number;
}
/** What each request of a change carries. */
interface Writing extends Reading {
  readonly idempotencyKey: string;
}
/** Which part of a list is asked for. */
export interface Page {
  readonly limit: number;
  readonly starting_after?: string;
}

/** Every method throws PaymentFailure. */
export interface Payment {
  /**
   * @param operation what it is, for logs
   * @param ask       makes exactly one request, with the options that it is given
   */
  read<T>(operation: string, ask: (client: PaymentClient, options: Reading) => Promise<T>): Promise<T>;
  /**
   * A change. A request whose connection broke is sent once more under the same key.
   * @param key under which the provider does it once within 24 h, at most 255 characters
   */
  write<T>(operation: string, key: string, ask: (client: PaymentClient, options: Writing) => Promise<T>): Promise<T>;
  /** All pages of a list; a list of more than 10,000 fails. */
  list<T extends { readonly id: string }>(
    operation: string,
    ask: (
      client: PaymentClient,
      page: Page,
      options: Reading,
    ) => Promise<{ readonly data: readonly T[]; readonly has_more: boolean }>,
  ): Promise<readonly T[]>;
}

export function openPayment({ secretKey, apiBase, warn, timeoutMs = defaultTimeoutMs }: PaymentOptions): Payment {
  let opening: Promise<{ client: Stripe; errors: Stripe["errors"] }> | null = null;

  async function open() {
    const { default: Client } = await import("stripe");
    const { protocol, hostname, port } = new URL(apiBase);
    const client = new Client(secretKey.reveal(), {
      apiVersion: paymentApiVersion,
      protocol: protocol === "http:" ? "http" : "https",
      host: hostname,
      port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port),
      maxNetworkRetries: 0,
      telemetry: false,
      // Of `fetch` the client uses the call alone.
      httpClient: Client.createFetchHttpClient(Object.assign(paymentFetch, { preconnect: fetch.preconnect })),
    });
    return { client, errors: Client.errors };
  }

  async function call<T>(operation: string, ask: (client: Stripe, options: Reading) => Promise<T>): Promise<T> {
    opening ??= open().catch((error) => {
      opening = null;
      throw error;
    });
    const { client, errors } = await opening;
    const endsAt = performance.now() + timeoutMs;
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        return await ask(client, { timeout: Math.max(1, Math.ceil(endsAt - performance.now())) });
      } catch (error) {
        const { kind, code, mayRepeat, facts } = seenAs(error, errors);
        warn("payment_provider_failed", { operation, kind, ...facts });
        if (!mayRepeat || isRepeated || performance.now() >= endsAt) throw new PaymentFailure(kind, operation, code);
      }
    }
  }

  const payment: Payment = {
    read: call,
    write: (operation, key, ask) =>
      call(operation, (client, options) => ask(client, { ...options, idempotencyKey: key })),
    async list(operation, ask) {
      const rows: Awaited<ReturnType<typeof ask>>["data"][number][] = [];
      for (let after: string | undefined; ; after = rows.at(-1)?.id) {
        const page = { limit: pageSize, ...(after === undefined ? {} : { starting_after: after }) };
        const { data, has_more } = await payment.read(operation, (client, options) => ask(client, page, options));
        rows.push(...data);
        if (!has_more || data.length === 0) return rows;
        if (rows.length >= maxListed) {
          warn("payment_provider_failed", { operation, kind: "failed", error: `more than ${maxListed} rows` });
          throw new PaymentFailure("failed", operation);
        }
      }
    },
  };
  return payment;
}
