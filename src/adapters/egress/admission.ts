/** What the egress proxy asks before it serves a connection. */
import type { NetworkPolicy } from "../../../actors/policy/network/policy.ts";

/** The sandbox instance that a connection's credentials belong to. */
export interface ProxyClient {
  readonly instanceId: string;
  /** What the instance may reach. */
  readonly policy: NetworkPolicy;
}

/** One connection among those that its instance has open. */
export interface ConnectionSlot {
  /** Adds bytes that were sent to and received from the outside. */
  count(sent: number, received: number): void;
  /** Gives the slot back, once the connection has ended. */
  leave(): void;
}

/** Decides who may use the proxy. The proxy asks; the feature that knows executions answers. */
export interface Admission<C extends ProxyClient> {
  /**
   * @param authorization value of `Proxy-Authorization`
   * @returns null for malformed credentials and for those of an instance that does not run
   * @throws when it cannot be known now
   */
  admit(authorization: string): Promise<C | null>;
  /**
   * @param cut ends the connection; called when the instance may no longer have it
   * @returns null when the instance has too many connections
   */
  enter(client: C, cut: () => void): ConnectionSlot | null;
}
