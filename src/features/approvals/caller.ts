/** Who acts on an approval, and from where, as a request tells it. */

import type { Decider, Source } from "../../../actors/approval/messages.ts";
import type { Identity } from "../../../actors/identity/identity.ts";
import { isOwnSubject } from "../../../actors/identity/tenant.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import type { Incoming } from "../../http/route.ts";

/** Of a request's own words, kept. */
const maxUserAgent = 512;

/** Who decides, as authenticated: what `approvers`, `required_role` and the history go by. */
export function deciderOf(identity: Identity, tenant: string): Decider {
  const { userId, kind, email, role, membership } = identity;
  return {
    sub: userId,
    own_realm: isOwnSubject(identity, tenant),
    kind,
    realm: identity.realm,
    client: identity.clientId,
    email: email === null ? null : madeStorable(email),
    roles: [role, membership].filter((one) => one !== null),
  };
}

export function sourceOf({ requestId, request, address }: Pick<Incoming, "requestId" | "request" | "address">): Source {
  const agent = request.headers.get("user-agent");
  return {
    http_request_id: requestId,
    ip: address,
    user_agent: agent === null ? null : madeStorable(agent.slice(0, maxUserAgent)),
  };
}
