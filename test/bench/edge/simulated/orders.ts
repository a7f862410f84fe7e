/** What a bench and its program of simulated daemons tell each other. */

/** A host as a line of the file that the program reads. */
export interface SimulatedHost {
  readonly id: string;
  /** PKCS#8 in DER, base64. */
  readonly key: string;
  /** The 32 bytes, base64. */
  readonly publicKey: string;
  /** Where its requests come from, as the balancer tells it. */
  readonly address: string;
}

export interface ServiceKeyPin {
  readonly kid: string;
  readonly public_key: string;
}

export type Order =
  | {
      readonly order: "begin";
      readonly hostsFile: string;
      readonly pins: readonly ServiceKeyPin[];
      readonly urls: readonly string[];
      /** Least and most milliseconds that a command takes. */
      readonly work: readonly [number, number];
    }
  /** All hosts connect, so many a second. */
  | { readonly order: "connect"; readonly perSecond: number }
  /** Where the balancer leads from now on. */
  | { readonly order: "urls"; readonly urls: readonly string[] }
  /** Closes all links, and opens none. */
  | { readonly order: "rest" }
  | { readonly order: "counts"; readonly id: number }
  /** How long the last 10,000 welcomes took, from opening the socket, ms. */
  | { readonly order: "waits"; readonly id: number };

/** Since the program began, but for `open` and `welcomed`. */
export interface Counts {
  /** Now. */
  open: number;
  /** Now: open, and welcomed. */
  welcomed: number;
  hellos: number;
  /** Welcomes that were verified. */
  welcomes: number;
  heartbeats: number;
  acks: number;
  /** Invocations that were verified, repeated ones included. */
  invoked: number;
  /** Commands that were started: each once. */
  started: number;
  results: number;
  /** Results of which an acknowledgement was verified. */
  acknowledged: number;
  cancelled: number;
  /** Frames that did not verify, or that no frame of the protocol is. */
  unsound: number;
  /** By close code; `0` for connections that were refused. */
  closes: Record<string, number>;
  /** How late the program's own timer came at the worst since it was last asked, ms. */
  lagMs: number;
}

export type Said =
  | { readonly said: "ready" }
  | { readonly said: "waits"; readonly id: number; readonly waits: readonly number[] }
  | { readonly said: "counts"; readonly id: number; readonly counts: Counts };
