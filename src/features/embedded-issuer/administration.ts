/** People as those see and change them who run the installation or a tenant. */
import {
  administers,
  type Identity,
  isPlatformOperator,
  type Membership,
  type Role,
} from "../../../actors/identity/identity.ts";
import { isEnterpriseSlug } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Page } from "../../http/paging.ts";
import type { Call } from "../../http/route.ts";
import type { Keys } from "../../identity/callers/api-keys.ts";
import type { Members } from "../../identity/callers/members.ts";
import type { EmbeddedRealms } from "../../identity/tokens/embedded-realms.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedChange, auditedBy } from "../audit/port.ts";
import type { Attempts } from "./people/attempts.ts";
import type { Letters } from "./people/letters.ts";
import { type PersonChange, type PersonRow, type PersonStatus, peopleTenant } from "./people/records.ts";
import type { People } from "./people/service.ts";
import type { ChangeBody, InviteBody, PersonBody } from "./schema.ts";

export interface AdministrationOptions {
  readonly sql: Sql;
  readonly people: People;
  readonly letters: Letters;
  readonly attempts: Attempts;
  readonly realms: EmbeddedRealms;
  readonly members: Members;
  readonly keys: Keys;
  readonly audit: Audit;
  readonly now: () => number;
}

type AnyCall = Pick<Call, "identity" | "tenant" | "request" | "requestId" | "address">;

export function createAdministration(options: AdministrationOptions) {
  const { sql, people, letters, attempts, realms, members, keys, audit, now } = options;
  const { records } = people;

  /**
   * The realm whose people the caller may manage.
   * @throws Problem 403 `operator_required`, `insufficient_scope`; 501 `issuer_not_configured`; 422 for an unknown one
   */
  function realmOf({ identity, tenant }: AnyCall, wanted: string | undefined): string {
    if (isEnterpriseSlug(tenant)) {
      if (!administers(identity, tenant))
        throw new Problem("insufficient_scope", "Only the tenant's owner and admins may do this", {
          required: "colony:write",
        });
      if (!realms.isServed(tenant)) throw notConfigured();
      return `tenant-${tenant}`;
    }
    if (tenant !== "svc-system" || !isPlatformOperator(identity) || identity.role !== "admin")
      throw new Problem("operator_required", "Only the platform's administrators may do this");
    const realm = wanted ?? "svc-system";
    if (realm === "svc-system" || (realm === "svc-consumer" && realms.hasConsumers)) return realm;
    throw new Problem("validation_failed", "There is no such realm", {
      issues: [{ path: "realm", message: "must be a realm of the embedded provider", code: "unknown_realm" }],
    });
  }

  async function find(realm: string, id: string): Promise<PersonRow> {
    const person = await records.byId(realm, id);
    if (person === null) throw new Problem("person_not_found", "There is no such person");
    return person;
  }

  /** Of a tenant's people, what they are in the tenant. */
  const membershipOf = async ({ tenant, realm, id }: PersonRow): Promise<Membership | null> =>
    realm.startsWith("tenant-") ? members.find(tenant, { realm, userId: id }) : null;

  /** The owner is changed by the owner, or by who runs the platform. @throws Problem 403 `owner_only` */
  async function requireMay(identity: Identity, person: PersonRow): Promise<void> {
    if ((await membershipOf(person)) !== "owner" || identity.membership === "owner") return;
    if (isPlatformOperator(identity)) return;
    throw new Problem("owner_only", "Only the owner may do this to the owner");
  }

  async function bodyOf(person: PersonRow): Promise<PersonBody> {
    const role = person.role ?? (await membershipOf(person));
    const isLocked = person.status === "active" && person.locked_until !== null;
    return {
      id: person.id,
      user_id: person.id,
      realm: person.realm,
      email: person.email,
      email_verified: person.email_verified,
      name: person.name,
      role,
      status: isLocked ? "locked" : person.status,
      totp: person.totp_confirmed_at !== null,
      last_sign_in_at: person.last_sign_in_at?.toISOString() ?? null,
      created_at: person.created_at.toISOString(),
    };
  }

  const entry = (
    call: AnyCall,
    person: Pick<PersonRow, "id" | "realm">,
    action: string,
    details = {},
  ): AuditedChange => ({
    tenant: call.tenant,
    action,
    target: { type: "person", id: person.id },
    details: { realm: person.realm, ...details },
  });

  /** Ends what the person holds, in one transaction; `tell` after the commit. */
  async function endAll(tx: Transaction, person: PersonRow): Promise<{ readonly tell: () => void }> {
    await people.sessions.endAll(tx, person.id);
    const ended = await keys.revokeOf(tx, { realm: person.realm, userId: person.id });
    return { tell: () => keys.changed(ended) };
  }

  /**
   * What API keys go by: a person who never comes with another token would keep by them what a role gave. Of the tokens
   * issued until now none brings the former role back.
   */
  async function noteRole(tx: Transaction, { realm, id }: PersonRow, role: Role): Promise<void> {
    await tx`
      insert into users (realm, user_id, kind, role, token_iat)
      values (${realm}, ${id}, 'operator', ${role}, ${Math.floor(now() / 1000) + 1})
      on conflict (realm, user_id) do update
      set role = excluded.role, token_iat = greatest(users.token_iat, excluded.token_iat)`;
  }

  /** In every tenant: a consumer may be in several teams. @returns these tenants */
  async function endMemberships(tx: Transaction, { realm, id }: PersonRow): Promise<readonly string[]> {
    const rows = await tx<{ tenant: string }[]>`
      select tenant from tenant_members where realm = ${realm} and user_id = ${id} and status = 'active'`;
    for (const { tenant } of rows) await members.revoke(tx, tenant, { realm, userId: id });
    return rows.map(({ tenant }) => tenant);
  }

  return {
    realmOf,
    find,
    bodyOf,

    async list(realm: string, status: PersonStatus | "locked" | undefined, q: string | undefined, page: Page) {
      const rows = await records.list(realm, status ?? null, q ?? null, page);
      const bodies = await Promise.all(rows.map(bodyOf));
      return bodies.map((body, index) => ({ body, position: rows[index]?.position ?? "0" }));
    },

    /** @returns the person with the link, where no mail took it */
    async invite(call: AnyCall, realm: string, id: string, { email, name, role }: InviteBody) {
      const isOperator = realm === "svc-system";
      if (isOperator !== (role !== undefined)) throw roleFault(isOperator);
      const url = (await sql.begin(async (tx) => {
        const isNew = await records.add(tx, {
          id,
          tenant: peopleTenant(realm),
          realm,
          email,
          emailVerified: false,
          name: name ?? null,
          role: role ?? null,
          status: "invited",
          passwordHash: null,
        });
        if (!isNew) throw new Problem("person_exists", "The realm has a person of that address");
        const made = await letters.linked(tx, { id, tenant: peopleTenant(realm), realm, email }, "invitation");
        await audit.append(tx, auditedBy(call), entry(call, { id, realm }, "person.invited", { role: role ?? null }));
        return made;
      })) as string;
      letters.sendSoon();
      const person = await find(realm, id);
      return { ...(await bodyOf(person)), accept_url: letters.isConfigured ? null : url };
    },

    async change(call: AnyCall, person: PersonRow, wanted: ChangeBody): Promise<PersonBody> {
      await requireMay(call.identity, person);
      if (wanted.role !== undefined && person.realm !== "svc-system") throw roleFault(false);
      const isDisabled = wanted.status === "disabled" && person.status !== "disabled";
      const changed = (["name", "role", "status", "unlock"] as const).filter((member) => wanted[member] !== undefined);
      const values = changedColumns(person, wanted);
      const tell = (await sql.begin(async (tx) => {
        if (Object.keys(values).length > 0) await records.change(tx, person.id, values);
        if (wanted.unlock) await attempts.forget({ realm: person.realm, address: person.email }, tx);
        const action = isDisabled ? "person.disabled" : "person.updated";
        await audit.append(tx, auditedBy(call), entry(call, person, action, { changed }));
        // What a role gave is given by its tokens for five minutes at most; refresh tokens read it anew.
        if (wanted.role !== undefined) await noteRole(tx, person, wanted.role);
        return isDisabled ? (await endAll(tx, person)).tell : () => {};
      })) as () => void;
      tell();
      return bodyOf(await find(person.realm, person.id));
    },

    /** @returns the link, where no mail took it */
    async reset(call: AnyCall, person: PersonRow, totp: boolean): Promise<string | null> {
      await requireMay(call.identity, person);
      if (person.status === "disabled") throw new Problem("invalid_state", "The person is disabled");
      const url = (await sql.begin(async (tx) => {
        if (totp) await people.removeTotp(tx, person);
        const made = await letters.linked(tx, person, "reset");
        await audit.append(tx, auditedBy(call), entry(call, person, "person.reset_sent", { totp }));
        return made;
      })) as string;
      letters.sendSoon();
      return letters.isConfigured ? null : url;
    },

    async remove(call: AnyCall, person: PersonRow): Promise<void> {
      await requireMay(call.identity, person);
      const tell = (await sql.begin(async (tx) => {
        // First: a key that is being made for the person is there when keys are ended, or is refused.
        await records.hold(tx, person.id);
        const ended = await endAll(tx, person);
        const left = await endMemberships(tx, person);
        await records.remove(tx, person.id);
        await tx`delete from users where realm = ${person.realm} and user_id = ${person.id}`;
        await audit.append(tx, auditedBy(call), entry(call, person, "person.deleted", { at: now() }));
        return () => {
          ended.tell();
          for (const tenant of left) members.changed(tenant);
        };
      })) as () => void;
      tell();
    },
  };
}

/** A person who never set a password is invited again rather than active. */
function changedColumns(person: PersonRow, { name, role, status }: ChangeBody): PersonChange {
  const enabled = person.password_hash === null ? "invited" : "active";
  const isStatusChanged = status !== undefined && (status === "disabled") !== (person.status === "disabled");
  return {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(isStatusChanged ? { status: status === "disabled" ? status : enabled } : {}),
  };
}

export type Administration = ReturnType<typeof createAdministration>;

export const notConfigured = () =>
  new Problem("issuer_not_configured", "This installation is no identity provider for these people (SVC_ISSUER)");

const roleFault = (isNeeded: boolean) =>
  new Problem("validation_failed", "The role does not fit", {
    issues: [
      {
        path: "role",
        message: isNeeded ? "is required of operators" : "is of operators alone; roles of members are the colony's",
        code: isNeeded ? "required" : "unexpected",
      },
    ],
  });
