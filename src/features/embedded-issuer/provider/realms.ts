/** The realms that the provider serves, each with an issuer, clients and sessions of its own. */
import { LRUCache } from "lru-cache";
import { Provider } from "oidc-provider";
import type { EmbeddedRealms } from "../../../identity/tokens/embedded-realms.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Encryption } from "../../encryption/port.ts";
import type { SignInClients } from "../../sign-in/port.ts";
import type { PageRealm } from "../pages/frame.ts";
import { type PageParts, servePages } from "../pages/pages.ts";
import { type PeopleRecords, peopleTenant } from "../people/records.ts";
import { clientsOf, type MachineClient } from "./clients.ts";
import { realmConfiguration } from "./configuration.ts";
import type { IssuerKeys } from "./keys.ts";

/** Providers kept at once. */
const maxOpen = 200;

export interface RealmProvidersOptions extends PageParts {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly records: PeopleRecords;
  readonly keys: IssuerKeys;
  readonly realms: EmbeddedRealms;
  readonly publicUrl: string;
  readonly clientIds: SignInClients;
  readonly machines: readonly MachineClient[];
  readonly needsTotp: boolean;
  readonly hasSignUp: boolean;
  readonly newId: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** @returns the provider of a realm; null for a name that is none of a served realm */
export type ProviderOf = (slug: string) => Promise<Provider | null>;

export function createRealmProviders(options: RealmProvidersOptions): ProviderOf {
  const { keys, realms } = options;
  const open = new LRUCache<string, Provider>({ max: maxOpen });
  return async (slug) => {
    const realm = await realms.find(slug);
    if (realm === null) return null;
    const ring = await keys.ring();
    const name = `${slug} ${ring.version}`;
    const known = open.get(name);
    if (known !== undefined) return known;
    const made = openProvider(options, realm.slug, realm.issuer_url, ring);
    open.set(name, made);
    return made;
  };
}

function openProvider(
  options: RealmProvidersOptions,
  slug: string,
  issuer: string,
  ring: Awaited<ReturnType<IssuerKeys["ring"]>>,
): Provider {
  const { publicUrl, clientIds, machines, records, needsTotp, hasSignUp, warn } = options;
  const path = new URL(issuer).pathname;
  const tenant = peopleTenant(slug);
  const provider = new Provider(
    issuer,
    realmConfiguration({
      ...options,
      realm: slug,
      tenant,
      path,
      issuer,
      ring,
      clients: clientsOf({ publicUrl, issuer, clientIds, machines: slug === "svc-system" ? machines : [] }),
      account: async (id) => {
        const person = await records.byId(slug, id);
        if (person?.status !== "active") return null;
        return { id, email: person.email, emailVerified: person.email_verified, name: person.name, role: person.role };
      },
    }),
  );
  // Only the node's own listener reaches it, which says where the client is.
  provider.proxy = true;
  const failed = (error: unknown) => warn("issuer_failed", { realm: slug, error: String(error) });
  provider.on("server_error", (_, error: Error) => failed(error));
  // Of Koa, of which the provider is one: without a listener it would write to the process's errors.
  provider.addListener("error" as "server_error", failed);
  const page: PageRealm = {
    slug,
    tenant,
    issuer,
    path,
    needsTotp: needsTotp || slug === "svc-system",
    hasSignUp: hasSignUp && slug === "svc-consumer",
  };
  servePages(provider, page, options);
  return provider;
}
