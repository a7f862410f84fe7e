/** Sign-in by an identity provider of the tenant's own: kept, checked, applied where the issuer is svc's. */
import { ownerOnly } from "../../../../actors/colony/roles.ts";
import { reaches } from "../../../../actors/identity/standing.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import { type Colonies, type ColonyCall, notInCharge } from "../context.ts";
import type { NewSaml, SamlBody } from "../schema.ts";
import { isCertificateValid, pemOf } from "./certificate.ts";

/** What signs people in by the settings of a tenant. */
export interface SamlConnector {
  /** Whether people of the tenant sign in with it. */
  serves(tenant: string): boolean;
}

/** Settings that are in force. */
export interface AppliedSaml {
  readonly entityId: string;
  readonly ssoUrl: string;
  /** PEM. */
  readonly certificate: string;
}

interface Row {
  readonly entity_id: string;
  readonly sso_url: string;
  readonly certificate: string;
  readonly provisioning: "manual" | "pending" | "applied" | "failed";
  readonly updated_at: Date;
}

export interface SamlServiceOptions {
  readonly sql: Sql;
  readonly colonies: Colonies;
  readonly tenants: Pick<Tenants, "find">;
  readonly audit: Pick<Audit, "append">;
  /** Unix ms. */
  readonly now: () => number;
}

export type SamlService = ReturnType<typeof createSamlService>;

export function createSamlService({ sql, colonies, tenants, audit, now }: SamlServiceOptions) {
  let connector: SamlConnector | null = null;

  async function stored(tenant: string): Promise<Row | null> {
    const [row] = await sql<Row[]>`
      select entity_id, sso_url, certificate, provisioning, updated_at from saml_settings where tenant = ${tenant}`;
    return row ?? null;
  }

  const bodyOf = (row: Row | null): SamlBody => ({
    configured: row !== null,
    entity_id: row?.entity_id ?? "",
    sso_url: row?.sso_url ?? "",
    certificate: row?.certificate ?? "",
    certificate_valid: row !== null && isCertificateValid(row.certificate, now()),
    provisioning: row?.provisioning ?? "none",
    updated_at: row?.updated_at.toISOString() ?? null,
  });

  /** An entity has one tenant; that of a deleted tenant is free again. @throws Problem 409 `entity_id_taken` */
  async function claim(tx: Transaction, tenant: string, entityId: string): Promise<void> {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`saml ${entityId}`}, 0))`;
    const [holder] = await tx<{ tenant: string; status: string | null }[]>`
      select s.tenant, t.status from saml_settings s left join tenants t on t.slug = s.tenant
      where s.entity_id = ${entityId} and s.provisioning in ('pending', 'applied') and s.tenant <> ${tenant}`;
    if (holder === undefined) return;
    if (holder.status !== null && holder.status !== "deleted")
      throw new Problem("entity_id_taken", "Another tenant signs in by this identity provider");
    // Should the deleted one come back, it has to be set up again.
    await tx`update saml_settings set provisioning = 'failed' where tenant = ${holder.tenant}`;
  }

  return {
    /** Registers what signs people in. */
    connect(made: SamlConnector): void {
      connector = made;
    },

    /** Settings of a tenant that its people sign in by; null: there are none in force. */
    async of(tenant: string): Promise<AppliedSaml | null> {
      const row = await stored(tenant);
      if (row?.provisioning !== "applied" || !isCertificateValid(row.certificate, now())) return null;
      return { entityId: row.entity_id, ssoUrl: row.sso_url, certificate: pemOf(row.certificate) };
    },

    /** @throws Problem 403 `insufficient_scope` for members that are neither owner nor admin */
    async read(call: ColonyCall): Promise<SamlBody> {
      const { kind, tenant, role } = await colonies.of(call, true);
      if (kind === "system" || kind === "consumer") return bodyOf(null);
      if (role !== "owner" && role !== "admin") throw notInCharge();
      return bodyOf(await stored(tenant));
    },

    /** @throws Problem 403 `owner_only`, `tier_not_permitted`, 409 `entity_id_taken` */
    async write(call: ColonyCall, { entity_id, sso_url, certificate }: NewSaml): Promise<SamlBody> {
      const { tenant, role } = await colonies.runBy(call);
      if (role !== "owner") throw ownerOnly();
      const found = await tenants.find(tenant);
      if (found === null || !reaches(found.standing.tier, "enterprise"))
        throw new Problem("tier_not_permitted", "Sign-in by SAML is part of the tier enterprise");
      for (const [name, text] of Object.entries({ entity_id, sso_url, certificate }))
        if (!isStorable(text)) throw invalidField(name, "must be printable text");
      if (!isHttps(sso_url)) throw invalidField("sso_url", "must be an https URL");
      const isValid = isCertificateValid(certificate, now());
      const isServed = connector?.serves(tenant) ?? false;
      const provisioning = isServed ? (isValid ? "applied" : "failed") : "manual";
      await sql.begin(async (tx) => {
        if (provisioning === "applied") await claim(tx, tenant, entity_id);
        await tx`
          insert into saml_settings (tenant, entity_id, sso_url, certificate, provisioning, updated_at)
          values (${tenant}, ${entity_id}, ${sso_url}, ${certificate}, ${provisioning}, ${new Date(now())})
          on conflict (tenant) do update set entity_id = excluded.entity_id, sso_url = excluded.sso_url,
            certificate = excluded.certificate, provisioning = excluded.provisioning, updated_at = excluded.updated_at`;
        await audit.append(tx, auditedBy(call), {
          tenant,
          action: "saml.updated",
          target: { type: "saml", id: tenant },
          details: { entity_id, sso_url, certificate_valid: isValid, provisioning },
        });
      });
      return bodyOf(await stored(tenant));
    },
  };
}

function isHttps(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" && url.username === "" && url.password === "";
}
