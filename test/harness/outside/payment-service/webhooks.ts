/** Events, sent to the endpoint of an account and signed as the provider signs. */
import { createHmac } from "node:crypto";
import type { ProviderEvent } from "./shapes.ts";

/** The header of a delivery. @param at Unix seconds */
export function signature(body: string, secrets: readonly string[], at = Math.floor(Date.now() / 1000)): string {
  const signed = secrets.map((secret) => `v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`);
  return [`t=${at}`, ...signed].join(",");
}

export interface Delivery {
  readonly event: string;
  readonly status: number;
}

/** Delivers in order, each once; what is refused is not sent again. */
export class Webhooks {
  readonly deliveries: Delivery[] = [];
  #endpoint: { readonly url: string; readonly secret: string } | null = null;
  #queue: Promise<void> = Promise.resolve();

  /** Where what happens from now on is sent; null: nowhere. */
  sendTo(endpoint: { readonly url: string; readonly secret: string } | null): void {
    this.#endpoint = endpoint;
  }

  tell(event: ProviderEvent): void {
    if (this.#endpoint !== null) void this.send(event);
  }

  /** @returns the status of the answer once it is there; 0: none came */
  send(event: ProviderEvent): Promise<number> {
    const endpoint = this.#endpoint;
    if (endpoint === null) throw new Error("no endpoint is known");
    const body = JSON.stringify(event);
    const sent = this.#queue.then(async () => {
      const headers = { "content-type": "application/json", "stripe-signature": signature(body, [endpoint.secret]) };
      const response = await fetch(endpoint.url, { method: "POST", headers, body }).catch(() => null);
      await response?.arrayBuffer();
      this.deliveries.push({ event: event.id, status: response?.status ?? 0 });
      return response?.status ?? 0;
    });
    this.#queue = sent.then(() => {});
    return sent;
  }

  /** Until everything that was told before is delivered. */
  async drained(): Promise<void> {
    await this.#queue;
  }
}
