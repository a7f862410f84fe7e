/** Credentials: what agents and workflows call services outside with, and who lets them. */
import { agents } from "../agents/feature.ts";
import { audit } from "../audit/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { defineFeature } from "../feature.ts";
import { definitions } from "../workflows/definitions/feature.ts";
import { createGrants } from "./grants.ts";
import { credentialRecords } from "./records.ts";
import { credentialRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createCredentials } from "./service.ts";
import { encryptedColumns } from "./values.ts";

export const credentials = defineFeature({
  name: "credentials",
  schemas: named,
  needs: { agents, audit, definitions, encryption },
  open({ sql, now, newId }, { agents, audit, definitions, encryption }) {
    const records = credentialRecords(sql);
    const credentials = createCredentials({ sql, records, encryption, audit, now, revoked: () => {} });
    const grants = createGrants({ sql, credentials, agents, definitions, audit, now });
    return {
      service: credentials,
      routes: credentialRoutes({ sql, credentials, rotate: credentials.rotateKey, grants, newId }),
      sweeps: [() => encryption.startReencryption(encryptedColumns)],
    };
  },
});
