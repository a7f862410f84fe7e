/** Which service is called, by whom, in which tenant: options, then the environment, then the context. */
import { type Client, createClient } from "../../client/client.ts";
import { say } from "../output/inert.ts";
import { Failure, usageFailure } from "../process/exit.ts";
import type { Globals } from "../process/globals.ts";
import { type Io, variable } from "../process/io.ts";
import { serviceAddress } from "./address.ts";
import { isMisread, notOurs } from "./answers.ts";
import { type NamedContext, readContexts } from "./contexts.ts";
import { type Identity, identityOf } from "./identity.ts";
import { tellingNewTenant } from "./new-tenant.ts";
import { patiently } from "./patience.ts";

/** Where a development node is. */
export const usualUrl = "http://localhost:8080";

export interface Connection {
  readonly url: string;
  /** A tenant's slug, or the id of a team (`t-…`); null: the caller's own. */
  readonly tenant: string | null;
  /** The context that is in use; null: none. */
  readonly context: string | null;
  /** Neither an option, nor the environment, nor a context named a service. */
  readonly isGuessed: boolean;
  readonly identity: Identity;
  readonly client: Client;
  /** What a verb ended with, said better where an answer of another program than svc was the reason. */
  readonly explained: (error: unknown) => unknown;
}

/** @throws Failure `usage` for a context that does not exist and for a bad address */
export async function connect(io: Io, globals: Globals): Promise<Connection> {
  const { contexts, current } = await readContexts(io);
  const name = globals.context ?? variable(io, "SVC_CONTEXT") ?? current;
  const context = name === null ? null : (contexts[name] ?? null);
  if (name !== null && context === null && (globals.context !== null || current !== name))
    throw new Failure("usage", `There is no context ${name}`, "`svc context list` tells which there are.");
  const { url, isGuessed } = addressOf(io, globals, context);
  // What was given for one service is sent to no other one; so is the tenant's name.
  const isOfContext = context !== null && context.url === url;
  const tenant = globals.tenant ?? variable(io, "SVC_TENANT") ?? (isOfContext ? context.tenant : null);
  const patient = patiently(url);
  let hasAnswered = false;
  const reach = async (request: Request) => {
    try {
      const response = await patient(request);
      hasAnswered = true;
      return response;
    } catch (error) {
      if (isGuessed && error instanceof Failure && error.exit === "unavailable") throw nothingThere();
      throw error;
    }
  };
  const identity = await identityOf(io, globals, url, isOfContext ? name : null, reach);
  const team = tenant?.startsWith("t-") === true;
  const tenantTyped = team ? null : globals.tenant;
  const tellNew = () => io.err(`${say`warning: there was no tenant ${tenant}: this made it`.text}\n`);
  const client = createClient({
    url,
    token: identity.token,
    tenant: () => tenant,
    team: () => (team ? tenant : null),
    fetch: tenantTyped === null ? reach : tellingNewTenant({ url, slug: tenantTyped, tell: tellNew }, reach),
  });
  const explained = (error: unknown) => (hasAnswered && isMisread(error) ? notOurs(url, error.message) : error);
  return { url, tenant, context: isOfContext ? name : null, isGuessed, identity, client, explained };
}

function addressOf(io: Io, globals: Globals, context: NamedContext | null) {
  const allow = globals.allowPlaintext;
  if (globals.url !== null) return { url: serviceAddress(globals.url, "--url", allow, usageFailure), isGuessed: false };
  const named = variable(io, "SVC_API_URL");
  if (named !== null) return { url: serviceAddress(named, "SVC_API_URL", allow, usageFailure), isGuessed: false };
  if (context === null) return { url: usualUrl, isGuessed: true };
  return {
    url: serviceAddress(context.url, "The context's url", allow || context.allowPlaintext, usageFailure),
    isGuessed: false,
  };
}

const nothingThere = (): Failure =>
  new Failure(
    "unavailable",
    `No service is signed in to, and none runs at ${usualUrl}`,
    "`npm start` in a checkout starts one; `svc login URL` signs in to another.",
    "unreachable",
  );
