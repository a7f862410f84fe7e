/** What `credential:` references mean, for those who run definitions. */
import { type Candidate, type Choice, choose } from "../../../actors/credential/choice.ts";
import type { CredentialReference, Reference } from "../../../actors/manifest/references.ts";
import { Secret } from "../../lib/secret.ts";
import type { Audit, AuditedBy } from "../audit/port.ts";
import type { ReferenceFault, ReferenceSource, ReferenceUse, ResolvedReference } from "../references/port.ts";
import type { Registrars } from "../workflows/definitions/port.ts";
import { freshRow, isUsable } from "./fresh.ts";
import type { Refreshing } from "./oauth/refresh.ts";
import type { CredentialRow } from "./records.ts";
import { auditedCredential, type CredentialOptions } from "./service.ts";
import { usableValue } from "./values.ts";

export interface CredentialSourceOptions extends Pick<CredentialOptions, "sql" | "records" | "encryption" | "now"> {
  readonly audit: Pick<Audit, "once">;
  readonly refreshing: Pick<Refreshing, "atOnce">;
  readonly definitions: Registrars;
}

/** A stored credential with what decides about its use. */
interface Known extends Candidate {
  readonly row: CredentialRow;
}

/** Credentials of one provider that are looked at for a reference. */
const maxCandidates = 100;

const messages = {
  credential_not_found: "there is no such credential that is active and that this execution may see",
  credential_not_granted: "no grant covers this use of it",
} as const;

export function credentialSource(options: CredentialSourceOptions): ReferenceSource {
  const { sql, records, encryption, audit, definitions, now } = options;

  /** Those that a reference may mean, oldest first, the initiator's own ones before them. */
  async function candidates({ tenant, initiator }: ReferenceUse, { by }: CredentialReference): Promise<Known[]> {
    const { realm = null, userId = null } = initiator ?? {};
    const named =
      "id" in by
        ? sql`c.id = ${by.id}`
        : sql`c.provider = ${by.provider} and (${by.label}::text is null or c.label = ${by.label})
            and c.status = 'active'`;
    const rows = await sql<(CredentialRow & { is_owner_gone: boolean; grants: readonly StoredGrant[] })[]>`
      select ${records.columns},
        exists (select 1 from tenant_members m where m.tenant = c.tenant and m.realm = c.realm
          and m.user_id = c.user_id and m.status = 'revoked') as is_owner_gone,
        (select coalesce(jsonb_agg(jsonb_build_object('type', g.target_type, 'value', g.target_value,
            'at', extract(epoch from g.confirmed_at) * 1000)), '[]')
          from credential_grants g where g.credential_id = c.id and g.ended_at is null
            and (g.expires_at is null or g.expires_at > now())) as grants
      from credentials c
      where c.tenant = ${tenant} and ${named}
        and (c.scope = 'tenant' or (c.realm = ${realm} and c.user_id = ${userId}))
      order by c.scope = 'tenant', c.created_at, c.id limit ${maxCandidates}`;
    return rows.map(({ is_owner_gone: isOwnerGone, grants, ...row }) => ({
      id: row.id,
      scope: row.scope,
      realm: row.realm,
      userId: row.user_id,
      isUsable: isUsable(row, now()),
      isOwnerGone,
      grants: grants.map(({ type, value, at }) => ({ type, value, confirmedAt: new Date(at) })),
      row,
    }));
  }

  /** Where a personal one depends on it: when another than its owner, who is the initiator, changed the workflow. */
  async function changedAt({ tenant, workflow }: ReferenceUse, known: readonly Known[]): Promise<Date | null> {
    const own = known.find(
      ({ scope, grants }) => scope === "personal" && grants.some(({ type }) => type === "workflow"),
    );
    return own === undefined || workflow === null ? null : definitions.registeredByOthers(tenant, workflow, own);
  }

  async function choiceOf(use: ReferenceUse, reference: CredentialReference): Promise<Choice<Known>> {
    const known = await candidates(use, reference);
    const workflow =
      use.workflow === null ? null : { name: use.workflow, changedByOthersAt: await changedAt(use, known) };
    return choose({ ...use, workflow }, known);
  }

  async function meaning(use: ReferenceUse, reference: CredentialReference) {
    const choice = await choiceOf(use, reference);
    if ("fault" in choice) return faultOf(choice.fault);
    const row = await freshRow(options, choice.chosen.row);
    const value = row === null ? null : usableValue(encryption, row);
    if (row === null || value === null) return faultOf("credential_not_found");
    const secret = new Secret(value);
    return { value: secret, hidden: [secret], changedAt: row.updated_at.getTime(), credentialId: row.id };
  }

  return {
    kind: "credential",

    // Whose a credential is decides when it is used, by who begins the execution and by grants.
    refused: async () => new Map(),

    async resolve(use, references) {
      const meanings = new Map<string, ResolvedReference | ReferenceFault>();
      for (const reference of references.filter(isCredential)) {
        meanings.set(reference.text, await meaning(use, reference));
      }
      return meanings;
    },

    async used(use, references) {
      const chosen: (readonly [string, CredentialRow])[] = [];
      for (const reference of references.filter(isCredential)) {
        const choice = await choiceOf(use, reference);
        if ("chosen" in choice) chosen.push([reference.text, choice.chosen.row]);
      }
      await sql.begin(async (tx) => {
        for (const [text, row] of chosen) {
          const details = { execution_id: use.executionId, workflow: use.workflow };
          const occasion = `${use.executionId} ${text}`;
          await audit.once(tx, occasion, userOf(use), auditedCredential("used", row, details));
        }
        const ids = chosen.map(([, { id }]) => id);
        await tx`
          update credentials set last_used_at = now() where tenant = ${use.tenant} and id = any(${ids}::uuid[])`;
      });
    },
  };
}

interface StoredGrant {
  readonly type: Candidate["grants"][number]["type"];
  readonly value: string;
  /** Unix ms. */
  readonly at: number;
}

const isCredential = (reference: Reference): reference is CredentialReference => reference.kind === "credential";

const faultOf = (code: keyof typeof messages): ReferenceFault => ({ code, message: messages[code] });

/** The definition acts, with the permission of who began it. */
function userOf({ definition, initiator }: ReferenceUse): AuditedBy {
  const { realm = null, userId = null } = initiator ?? {};
  const actor = { kind: definition.kind, realm, user_id: userId, role: null, key_id: null, name: definition.id };
  return { actor, ip: null, user_agent: null, request_id: null };
}
