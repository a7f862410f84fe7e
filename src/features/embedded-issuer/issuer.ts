/** The embedded identity provider, put together. */

import type { Identity } from "../../../actors/identity/identity.ts";
import type { Route } from "../../http/route.ts";
import type { Keys } from "../../identity/callers/api-keys.ts";
import type { Members } from "../../identity/callers/members.ts";
import type { Starters } from "../../identity/callers/starters.ts";
import type { EmbeddedRealms } from "../../identity/tokens/embedded-realms.ts";
import { invalidToken } from "../../identity/tokens/tokens.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedSystem } from "../audit/port.ts";
import type { Encryption } from "../encryption/port.ts";
import type { Letters as Post } from "../mail/port.ts";
import type { SignInClients } from "../sign-in/port.ts";
import { type Administration, createAdministration } from "./administration.ts";
import { createEntrance } from "./entrance.ts";
import { createAttempts } from "./people/attempts.ts";
import type { TenantInvitations } from "./people/invited.ts";
import { createLetters } from "./people/letters.ts";
import { createLinks } from "./people/links.ts";
import { openPasswords } from "./people/passwords.ts";
import { peopleRecords } from "./people/records.ts";
import { createPeople } from "./people/service.ts";
import type { MachineClient } from "./provider/clients.ts";
import { createIssuerKeys } from "./provider/keys.ts";
import { createRealmProviders } from "./provider/realms.ts";
import { realmRoutes } from "./realm-routes.ts";
import { createSaml, type SamlSettings } from "./saml/sign-in.ts";
import { createSessions } from "./storage/sessions.ts";

export interface IssuerOptions {
  readonly sql: Sql;
  readonly audit: Audit;
  readonly encryption: Encryption;
  readonly realms: EmbeddedRealms;
  readonly machines: readonly MachineClient[];
  readonly publicUrl: string;
  readonly clientIds: SignInClients;
  readonly needsTotp: boolean;
  readonly hasSignUp: boolean;
  /** Null: none is made. */
  readonly firstOperator: { readonly email: string; readonly password: Secret } | null;
  readonly post: Post;
  readonly invitations: TenantInvitations;
  readonly samlOf: (tenant: string) => Promise<SamlSettings | null>;
  readonly members: Members;
  readonly keys: Keys;
  readonly starters: Starters;
  /** Who sends a request; null without a good token. */
  readonly callerOf: (request: Request) => Promise<Identity | null>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface Issuer {
  readonly routes: readonly Route[];
  readonly administration: Administration;
  /** Forgets what is over, and makes the next keys. */
  readonly sweep: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Whether the people of a realm are known here. */
const isOwnRealm = ({ hasConsumers, isServed }: EmbeddedRealms, realm: string): boolean =>
  realm === "svc-system" ||
  (realm === "svc-consumer" && hasConsumers) ||
  (realm.startsWith("tenant-") && isServed(realm.slice("tenant-".length)));

export async function openIssuer(options: IssuerOptions): Promise<Issuer> {
  const { sql, audit, encryption, publicUrl, realms, now, newId } = options;
  const records = peopleRecords(sql);
  const attempts = createAttempts(sql, now);
  const links = createLinks(sql, now);
  const sessions = createSessions(sql, encryption);
  const issuerKeys = createIssuerKeys({ sql, encryption, now, newId });
  const passwords = await openPasswords();
  const people = createPeople({ sql, records, passwords, attempts, links, sessions, encryption, audit, now, newId });
  const issuerOf = (realm: string) => realms.issuerPrefix + realm;
  const letters = createLetters({ sql, people, links, post: options.post, issuerOf, now, newId });
  const saml = createSaml({ sql, settingsOf: options.samlOf, now });
  const providerOf = createRealmProviders({
    ...options,
    records,
    keys: issuerKeys,
    people,
    letters,
    saml,
    origin: new URL(publicUrl).origin,
  });
  options.keys.guardedBy(async (tx, { kind, realm, userId }) => {
    if (kind === "service_account" || !isOwnRealm(realms, realm)) return;
    if (!(await records.holdActive(tx, realm, userId))) throw invalidToken();
  });
  options.starters.guardedBy(async ({ kind, realm, sub }) => {
    if (kind === "service_account" || !isOwnRealm(realms, realm)) return true;
    return sql.begin((tx) => records.holdActive(tx, realm, sub));
  });
  const entrance = createEntrance(providerOf, publicUrl);
  await issuerKeys.ring();
  await makeFirstOperator();

  /** Once, in a realm without people: the holder of the settings is not let in again after the person was removed. */
  async function makeFirstOperator(): Promise<void> {
    const { firstOperator } = options;
    if (firstOperator === null) return;
    const [known] = await sql`select 1 from people where realm = 'svc-system' limit 1`;
    if (known !== undefined) return;
    const passwordHash = await passwords.hash(firstOperator.password.reveal());
    const id = newId();
    await sql.begin(async (tx) => {
      const isNew = await records.add(tx, {
        id,
        tenant: "svc-system",
        realm: "svc-system",
        email: firstOperator.email,
        emailVerified: true,
        name: null,
        role: "admin",
        status: "active",
        passwordHash,
        passwordExpired: true,
      });
      if (!isNew) return;
      await audit.append(tx, auditedSystem("issuer"), {
        tenant: "svc-system",
        action: "person.created",
        target: { type: "person", id },
        details: { realm: "svc-system", role: "admin" },
      });
    });
  }

  async function userInfoOf(realm: string, request: Request) {
    const identity = await options.callerOf(request);
    if (identity?.realm !== realm || identity.keyId !== null) return null;
    const person = await records.byId(realm, identity.userId);
    if (person?.status !== "active") return null;
    const { id, email, email_verified, name } = person;
    return { sub: id, email, email_verified, ...(name === null ? {} : { name }) };
  }

  return {
    routes: realmRoutes(entrance, userInfoOf),
    administration: createAdministration({ ...options, people, letters, attempts }),
    async sweep() {
      await Promise.all([issuerKeys.rotate(), attempts.sweep(), links.sweep(), sessions.sweep(), saml.sweep()]);
    },
    close: () => entrance.close(),
  };
}
