/** How people sign in: where, as which client, and in development as whom. */

import { Problem } from "../../../actors/kernel/problem.ts";
import type { SignInRealm, SignInRealms } from "../../identity/tokens/sign-in-realms.ts";
import type { Discovery } from "./discovery.ts";
import type { SignInClients } from "./port.ts";
import type { SignInConfig } from "./schema.ts";

export interface SignIn {
  readonly clients: SignInClients;
  /**
   * @param tenant a name as a stranger gives it; one that is no tenant's is answered as none
   * @throws Problem 501 `not_configured`: no people sign in here
   */
  configOf(tenant: string | null): Promise<SignInConfig>;
  /** Issuers at other origins that a sign-in may lead to, the given tenant's among them. */
  issuersOf(tenant: string | null): Promise<readonly string[]>;
}

export interface SignInOptions {
  readonly clients: SignInClients;
  readonly scopes: readonly string[];
  readonly realms: SignInRealms;
  readonly discovery: Discovery;
  /** Null outside development mode. */
  readonly development: {
    /** `{SVC_PUBLIC_URL}/realms/` */
    readonly issuerPrefix: string;
    /** Null: a secret of the operator's. */
    readonly password: string | null;
    readonly subjects: readonly { readonly sub: string; readonly name: string }[];
  } | null;
}

export function createSignIn({ clients, scopes, realms, discovery, development }: SignInOptions): SignIn {
  async function realmOf(tenant: string | null): Promise<SignInRealm> {
    const realm = await realms.of(tenant);
    if (realm === null) throw new Problem("not_configured", "No identity provider is configured");
    return realm;
  }

  /** The realm's own people first: they are those of whom the caller asked. */
  function peopleOf({ slug, kind, issuer }: SignInRealm, { issuerPrefix, password }: NonNullable<typeof development>) {
    const operators = [
      ["admin", "Administrator of the platform"],
      ["operator", "Operator of the platform"],
      ["readonly", "Operator who may only read"],
    ] as const;
    const system = operators.map(([username, title]) => ({
      username,
      issuer: `${issuerPrefix}svc-system`,
      password,
      title,
    }));
    const consumer = {
      username: "ada",
      issuer: `${issuerPrefix}svc-consumer`,
      password,
      title: "A user with a tenant of her own",
    };
    if (kind !== "tenant") return [...system, consumer];
    const tenant = slug.slice("tenant-".length);
    return [{ username: "owner", issuer, password, title: `Owner of ${tenant}` }, ...system];
  }

  return {
    clients,
    async configOf(tenant) {
      const realm = await realmOf(tenant);
      const config = {
        issuer: realm.issuer,
        client_id: clients.console,
        cli_client_id: clients.commandLine,
        scopes: [...scopes],
        device: realm.by === "embedded" || (realm.by === "other" && (await discovery.offersDevice(realm.issuer))),
        password: realm.by === "development",
      };
      if (realm.by !== "development" || development === null) return config;
      return { ...config, people: peopleOf(realm, development), subjects: [...development.subjects] };
    },
    async issuersOf(tenant) {
      const own = (await realms.of(tenant))?.issuer;
      return [...new Set([...realms.issuers, ...(own === undefined ? [] : [own])])];
    },
  };
}
