/** Failures that a test orders for requests to come. */

export type Fault =
  /** An error of the provider's, without the effect. */
  | { readonly kind: "error"; readonly status: number }
  /** The effect, and no answer before the test lets it go. */
  | { readonly kind: "slow" }
  /** The effect, and a connection that breaks in place of the answer. */
  | { readonly kind: "lost" }
  /** A connection that breaks before the request is taken. */
  | { readonly kind: "broken" }
  /** Text that is not JSON, without the effect. */
  | { readonly kind: "garbage" };

export interface Ordered {
  readonly method?: "GET" | "POST" | "DELETE";
  /** Of the path. */
  readonly path?: RegExp;
  /** How many requests; all of them by default. */
  readonly times?: number;
  readonly fault: Fault;
}

export class Faults {
  readonly #orders: { readonly order: Ordered; left: number }[] = [];
  #released = Promise.withResolvers<void>();

  /** @returns ends it */
  order(order: Ordered): () => void {
    const entry = { order, left: order.times ?? Number.POSITIVE_INFINITY };
    this.#orders.push(entry);
    return () => {
      entry.left = 0;
    };
  }

  take(method: string, path: string): Fault | null {
    const found = this.#orders.find(
      ({ order, left }) => left > 0 && (order.method ?? method) === method && (order.path?.test(path) ?? true),
    );
    if (found === undefined) return null;
    found.left -= 1;
    return found.order.fault;
  }

  /** Answers what is kept waiting. */
  release(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  released(): Promise<void> {
    return this.#released.promise;
  }
}
