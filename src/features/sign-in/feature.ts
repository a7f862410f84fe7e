/** What the console and the command line have to know to let people sign in. */
import { Type } from "@sinclair/typebox";
import { anyText, text } from "../../config/setting.ts";
import { reply } from "../../http/answer.ts";
import { definePublicRoute } from "../../http/route.ts";
import { defineFeature } from "../feature.ts";
import { createDiscovery } from "./discovery.ts";
import { named, SignInConfig } from "./schema.ts";
import { createSignIn } from "./service.ts";

/** Short: an operator who changes a realm wants to see it, and a sign-in asks once. */
const cached = { "Cache-Control": "public, max-age=60" };

export const signIn = defineFeature({
  name: "sign-in",
  schemas: named,
  settings: {
    consoleClientId: text("SVC_CONSOLE_CLIENT_ID", {
      meaning: "the console as a client of the identity provider",
      ...anyText,
      default: "svc-console",
    }),
    cliClientId: text("SVC_CLI_CLIENT_ID", {
      meaning: "the command line as a client of the identity provider",
      ...anyText,
      default: "svc-cli",
    }),
    signInScopes: text("SVC_SIGN_IN_SCOPES", {
      meaning: "what console and command line ask the identity provider for, separated by spaces",
      pattern: /^[\x21\x23-\x5b\x5d-\x7e]{1,200}( [\x21\x23-\x5b\x5d-\x7e]{1,200}){0,19}$/,
      bounds: "1–20 scopes",
      default: "openid profile email",
    }),
  },
  contradictions: ({ consoleClientId, cliClientId }) =>
    consoleClientId !== undefined && consoleClientId === cliClientId
      ? ["SVC_CONSOLE_CLIENT_ID and SVC_CLI_CLIENT_ID must differ"]
      : [],
  open({ settings, signInRealms, issuer, now }) {
    const service = createSignIn({
      clients: { console: settings.consoleClientId, commandLine: settings.cliClientId },
      scopes: settings.signInScopes.split(" "),
      realms: signInRealms,
      discovery: createDiscovery(now),
      development:
        issuer === null
          ? null
          : { issuerPrefix: issuer.realms.issuerPrefix, password: issuer.plainPassword, subjects: issuer.subjects },
    });
    return {
      service,
      routes: [
        definePublicRoute({
          method: "GET",
          path: "/v1/auth/config",
          summary: "Where and as which client people sign in",
          query: Type.Object({
            tenant: Type.Optional(
              Type.String({ description: "slug; one that is no tenant's is answered as none", examples: ["acme"] }),
            ),
          }),
          responses: { 200: SignInConfig },
          refusals: ["not_configured"],
          handler: async ({ query }) => reply(200, await service.configOf(query.tenant ?? null), cached),
        }),
      ],
    };
  },
});
