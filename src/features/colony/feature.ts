/** The colony: teams, the people of a tenant, invitations, sign-in by SAML, what the plan gives. */
import { agents } from "../agents/feature.ts";
import { audit } from "../audit/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { sealedAnswers } from "../encryption/port.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { mail } from "../mail/feature.ts";
import { tenants as tenantsFeature } from "../tenants/feature.ts";
import { volumes } from "../volumes/feature.ts";
import { createColonies } from "./context.ts";
import { exported } from "./exported.ts";
import { invitationRecords } from "./invitations/records.ts";
import { invitationRoutes } from "./invitations/routes.ts";
import { createInvitationService } from "./invitations/service.ts";
import { createMemberService } from "./members/service.ts";
import type { LinkBase } from "./port.ts";
import { colonyRoutes } from "./routes.ts";
import { createSamlService } from "./saml/service.ts";
import { named } from "./schema.ts";
import { peopleOf } from "./seats.ts";
import { createSubscriptionView } from "./subscription/service.ts";
import { createTeamService } from "./teams/service.ts";

export const colony = defineFeature({
  name: "colony",
  exported,
  schemas: named,
  needs: { audit, encryption, mail, tenants: tenantsFeature, agents, executions, volumes },
  tenantTables: ["invitations", "saml_settings"],
  open(
    { sql, tenants, members, keys, publicUrl, now, newId },
    { audit, encryption, mail, tenants: lifecycle, agents, executions, volumes },
  ) {
    const bases: LinkBase[] = [];
    const linkOf = (tenant: string, token: string): string => {
      const base = bases.map((of) => of(tenant)).find((found) => found !== null);
      return `${base ?? `${publicUrl}/console/invitations`}#${token}`;
    };
    const colonies = createColonies({ sql, tenants, members });
    const records = invitationRecords(sql);
    const shared = { sql, colonies, tenants, members, audit, now };
    const invitations = createInvitationService({ ...shared, records, letters: mail, linkOf });
    const teams = createTeamService({ sql, tenants, members, audit, endTenant: lifecycle.end });
    const saml = createSamlService(shared);
    audit.erases(records.eraseOlder);
    members.invitedBy({ accept: invitations.acceptBySignIn });
    const use = { agents: agents.deployed, executions: executions.records.countUnderWay, storage: volumes.heldBytes };
    return {
      service: {
        saml: { of: saml.of, connect: saml.connect },
        /** Registers where people of a tenant accept their invitations; null: elsewhere. */
        linkBase: (base: LinkBase): void => void bases.push(base),
        invitations: { find: invitations.find },
        /** Distinct people whom a tenant's plan pays for. */
        peopleOf: (tenant: string): Promise<number> => peopleOf(sql, tenant),
      },
      routes: [
        ...colonyRoutes({
          sql,
          colonies,
          teams,
          members: createMemberService({ ...shared, keys, invitations: records }),
          saml,
          subscription: createSubscriptionView({ ...shared, use }),
          newId,
        }),
        ...invitationRoutes({ sql, colonies, invitations, teams, seal: sealedAnswers(encryption), newId }),
      ],
    };
  },
});
