/** From a host's name to addresses that may be connected to. */
import { lookup } from "node:dns/promises";
import { readAddress, writeAddress } from "../../../actors/policy/network/address.ts";
import { readHost } from "../../../actors/policy/network/host.ts";
import type { HostPattern } from "../../../actors/policy/network/pattern.ts";
import {
  addressRefusal,
  decide,
  listsRefusal,
  type NetworkPolicy,
  publicCallRefusal,
  type Refusal,
} from "../../../actors/policy/network/policy.ts";
import { withTimeout } from "../../lib/timers.ts";

/** Every address of a name, best first. Rejects or is empty when it has none. */
export type Resolver = (name: string) => Promise<readonly string[]>;

/** What this node allows and how it finds the outside. */
export interface EgressEnvironment {
  readonly resolve: Resolver;
  /** `egress.allow_private`: addresses off the open internet that a manifest may list. */
  readonly allowPrivate: readonly HostPattern[];
}

export const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

/** The policy does not allow the destination. */
export class EgressRefused extends Error {
  override readonly name = "EgressRefused";
  constructor(
    readonly reason: RefusalReason,
    readonly host: string,
    readonly port: number,
  ) {
    super(`${host}:${port} is refused: ${reason}`);
  }
}
/** Beside the policy's own: what only the connection shows. */
export type RefusalReason = Refusal | "server_name_mismatch" | "not_tls" | "host_mismatch";

/** Allowed, but it did not work. */
export class EgressFailed extends Error {
  override readonly name = "EgressFailed";
  constructor(
    readonly code: FailureCode,
    message: string,
  ) {
    super(message);
  }
}
export type FailureCode =
  | "unresolved"
  | "unreachable"
  | "tls_failed"
  | "timeout"
  | "aborted"
  | "too_many_redirects"
  | "invalid_url"
  | "upstream_error";

/** Checked addresses, as text, and what may be spoken there. */
export interface Destination {
  readonly addresses: readonly string[];
  readonly anyProtocol: boolean;
}

/** What a network policy decides about a request of the service; see `GuardedRequest`. */
export type Reach = "listed" | "public" | "lists";

/** How long a name may take to resolve, ms. */
const resolveMs = 5_000;
/** Addresses of one name that are looked at; an answer with more is cut. */
const maxAddresses = 32;

/**
 * Decides about a host, resolves it and checks every answer: one that is not allowed refuses them all.
 * @param reach `listed`: the policy decides everything; `public`: only about addresses off the open internet; `lists`: as
 *   `listsOf` has it
 * @param host  ASCII; IPv6 in brackets
 * @throws EgressRefused, EgressFailed `unresolved`
 */
export async function destinationOf(
  policy: NetworkPolicy,
  reach: Reach,
  host: string,
  port: number,
  { resolve, allowPrivate }: EgressEnvironment,
): Promise<Destination> {
  const target = readHost(host);
  if (reach === "listed") {
    const decision = decide(policy, host, port);
    if (!decision.allowed) throw new EgressRefused(decision.reason, host, port);
    return { ...(await checked()), anyProtocol: decision.anyProtocol };
  }
  const reason = reach === "lists" ? listsRefusal(policy, host, port) : null;
  if (reason !== null) throw new EgressRefused(reason, host, port);
  return { ...(await checked()), anyProtocol: true };

  async function checked(): Promise<{ readonly addresses: readonly string[] }> {
    if (target === null) throw new EgressRefused("invalid_host", host, port);
    const found =
      target.kind === "address"
        ? [target.address]
        : (await resolved(resolve, target.name)).map(readAddress).filter((address) => address !== null);
    if (found.length === 0) throw new EgressFailed("unresolved", `${host} has no address`);
    for (const address of found) {
      const refusalOf = reach === "public" ? publicCallRefusal : addressRefusal;
      const reason = refusalOf(address, port, policy, allowPrivate);
      if (reason !== null) throw new EgressRefused(reason, host, port);
    }
    return { addresses: found.map(writeAddress) };
  }
}

async function resolved(resolve: Resolver, name: string): Promise<readonly string[]> {
  const late = () => new Error("the name was not resolved in time");
  const answers = await withTimeout(resolve(name), resolveMs, late).catch(() => []);
  return answers.slice(0, maxAddresses);
}
