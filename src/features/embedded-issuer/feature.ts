/** The embedded identity provider: people sign in here where an installation has no provider of its own. */
import { choice, flag, secret, text } from "../../config/setting.ts";
import { Secret } from "../../lib/secret.ts";
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { colony } from "../colony/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { type EncryptedColumn, sealedAnswers } from "../encryption/port.ts";
import { defineFeature } from "../feature.ts";
import { mail } from "../mail/feature.ts";
import { signIn } from "../sign-in/feature.ts";
import { exported } from "./exported.ts";
import { accountClientId } from "./pages/frame.ts";
import { peopleRoutes } from "./people-routes.ts";
import { named } from "./schema.ts";

/** Between two looks at what is over, and at the keys. */
const sweepMs = 3600_000;

const columns = [
  { table: "people", column: "totp_ciphertext", version: (row) => `totp/${row.totp_version}` },
  { table: "issuer_records", column: "ciphertext", version: (row) => `issuer/${row.model}` },
  { table: "issuer_keys", column: "ciphertext", version: () => "issuer-key" },
] as const satisfies readonly EncryptedColumn[];

export const embeddedIssuer = defineFeature({
  name: "embedded-issuer",
  exported,
  schemas: named,
  tenantTables: [
    "person_tokens",
    "person_recovery_codes",
    "sign_in_failures",
    "issuer_records",
    "saml_requests",
    "people",
    "issuer_keys",
  ],
  needs: { audit, encryption, mail, colony, signIn },
  settings: {
    issuerAdminEmail: text("SVC_ISSUER_ADMIN_EMAIL", {
      meaning: "first operator of the embedded provider, with role admin; made at the first start of all",
      pattern: /^$|^[^\s@<>,;:"]{1,64}@[^\s@<>,;:"]{1,255}$/,
      bounds: "an e-mail address",
      default: "",
    }),
    issuerAdminPassword: secret("SVC_ISSUER_ADMIN_PASSWORD", {
      meaning: "the first operator's password until the first sign-in, which sets another one and an authenticator",
    }),
    issuerSignup: flag("SVC_ISSUER_SIGNUP", {
      meaning: "people register themselves at the embedded provider; of SVC_ISSUER_REALMS=consumers, with SVC_SMTP_URL",
      default: false,
    }),
    issuerTotp: choice("SVC_ISSUER_TOTP", {
      meaning: "whether people need an authenticator at the embedded provider; operators always do",
      of: ["optional", "required"],
      default: "optional",
    }),
  },
  contradictions: ({ issuerSignup, issuerAdminEmail, issuerAdminPassword, ...rest }) => {
    // Values of settings that identity and mail declare.
    const { issuer, issuerRealms, smtpUrl, consoleClientId, cliClientId } = rest as Record<string, unknown>;
    const problems: string[] = [];
    const isSet = issuerSignup === true || (issuerAdminEmail ?? "") !== "" || (issuerAdminPassword ?? null) !== null;
    if (issuer === null && isSet) problems.push("SVC_ISSUER_… are of the embedded provider: SVC_ISSUER=embedded");
    if (((issuerAdminEmail ?? "") === "") !== ((issuerAdminPassword ?? null) === null))
      problems.push("SVC_ISSUER_ADMIN_EMAIL and SVC_ISSUER_ADMIN_PASSWORD go together");
    if (issuerSignup === true && (issuerRealms !== "consumers" || smtpUrl === null))
      problems.push("SVC_ISSUER_SIGNUP needs SVC_ISSUER_REALMS=consumers and SVC_SMTP_URL, which proves addresses");
    if (issuer !== null && [consoleClientId, cliClientId].includes(accountClientId))
      problems.push(`SVC_CONSOLE_CLIENT_ID and SVC_CLI_CLIENT_ID must not be ${accountClientId}, the account page's`);
    return problems;
  },
  async open(node, { audit, encryption, mail, colony, signIn }) {
    const {
      settings,
      sql,
      embedded,
      publicUrl,
      now,
      newId,
      warn,
      environmentAsSet,
      members,
      keys,
      starters,
      callerOf,
    } = node;
    const seal = sealedAnswers(encryption);
    if (embedded === null) return { service: null, routes: peopleRoutes({ sql, administration: null, seal, newId }) };
    // Loaded where it is used: it is the largest library of all.
    const { openIssuer } = await import("./issuer.ts");
    const { realms } = embedded;
    colony.linkBase((tenant) => (realms.isServed(tenant) ? `${realms.issuerPrefix}tenant-${tenant}/invitation` : null));
    colony.saml.connect({ serves: realms.isServed });
    const environment = environmentAsSet();
    const issuer = await openIssuer({
      sql,
      audit,
      encryption,
      realms,
      machines: embedded.serviceAccounts.flatMap(({ client_id, secret, role }) => {
        const value = secret === undefined ? undefined : environment[secret.slice("env:".length)];
        return value === undefined ? [] : [{ clientId: client_id, secret: new Secret(value), role: role ?? null }];
      }),
      publicUrl,
      clientIds: signIn.clients,
      needsTotp: settings.issuerTotp === "required",
      hasSignUp: settings.issuerSignup,
      firstOperator:
        settings.issuerAdminEmail === "" || settings.issuerAdminPassword === null
          ? null
          : { email: settings.issuerAdminEmail, password: settings.issuerAdminPassword },
      post: mail,
      invitations: {
        find: async (token) => {
          const found = await colony.invitations.find(token);
          return found?.status === "pending" && found.expiresAt > now() ? found : null;
        },
      },
      samlOf: (tenant) => (realms.isServed(tenant) ? colony.saml.of(tenant) : Promise.resolve(null)),
      members,
      keys,
      starters,
      callerOf,
      now,
      newId,
      warn,
    });
    return {
      service: null,
      routes: [...issuer.routes, ...peopleRoutes({ sql, administration: issuer.administration, seal, newId })],
      jobs: [() => encryption.startReencryption(columns)],
      sweeps: [
        () => repeatedly(sweepMs, issuer.sweep, (error) => warn("issuer_sweep_failed", { error: String(error) })),
      ],
      close: issuer.close,
    };
  },
});
