/** Credentials: what agents and workflows call services outside with, and who lets them. */

import { oauthSettings, readOAuthProviders } from "../../adapters/oauth/port.ts";
import { ConfigError } from "../../config/load.ts";
import { agents } from "../agents/feature.ts";
import { audit } from "../audit/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { references } from "../references/feature.ts";
import { definitions } from "../workflows/definitions/feature.ts";
import { exported } from "./exported.ts";
import { createGrants } from "./grants.ts";
import { openOAuth } from "./oauth/open.ts";
import { named as oauthNamed } from "./oauth/schema.ts";
import { credentialRecords } from "./records.ts";
import { credentialRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createCredentials } from "./service.ts";
import { credentialSource } from "./source.ts";
import { serverCredentials } from "./tool-servers.ts";
import { encryptedColumns } from "./values.ts";

export const credentials = defineFeature({
  name: "credentials",
  exported,
  schemas: { ...named, ...oauthNamed },
  needs: { agents, audit, definitions, encryption, incidents, references },
  tenantTables: ["oauth_attempts", "credential_grants", "credentials"],
  settings: oauthSettings,
  contradictions: ({ oauthProviders }, { file }) => [
    ...Object.keys(file.oauth ?? {})
      .filter((name) => name !== "providers")
      .map((name) => `oauth.${name} is not known; known: providers`),
    ...readOAuthProviders(oauthProviders, null).problems,
  ],
  open({ settings, ...node }, { agents, audit, definitions, encryption, incidents, references }) {
    const { sql, now, newId } = node;
    const environment = node.environmentAsSet();
    const { providers, problems } = readOAuthProviders(settings.oauthProviders, (name) => environment[name]);
    if (problems.length > 0) throw new ConfigError(problems);
    const records = credentialRecords(sql);
    const shared = { sql, records, encryption, audit, now };
    const credentials = createCredentials({ ...shared, revoked: (row) => oauth.revoked(row) });
    const oauth = openOAuth({
      ...node,
      ...shared,
      credentials,
      incidents,
      providers,
      successUrl: settings.oauthSuccessUrl,
    });
    references.from(credentialSource({ ...shared, definitions, refreshing: oauth.refreshing }));
    const grants = createGrants({ sql, credentials, agents, definitions, audit, now });
    return {
      service: { ...credentials, ofServers: serverCredentials({ ...shared, refreshing: oauth.refreshing }) },
      routes: [...oauth.routes, ...credentialRoutes({ ...shared, credentials, rotate: oauth.rotate, grants, newId })],
      sweeps: [() => encryption.startReencryption(encryptedColumns), oauth.startSweep],
      jobs: [oauth.startRefreshing],
      queues: oauth.queues,
      close: oauth.close,
    };
  },
});
