/** Secrets of tenants: kept encrypted, read on record, referred to by definitions. */
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { defineFeature } from "../feature.ts";
import { references } from "../references/feature.ts";
import { encryptedColumns, postgresSecrets, sweepDeleted } from "./postgres/store.ts";
import { secretRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createSecretService } from "./service.ts";
import { secretSource } from "./source.ts";

/** How often rows of secrets deleted long ago are looked for. */
const sweepEveryMs = 3_600_000;

export const secrets = defineFeature({
  name: "secrets",
  schemas: named,
  tenantTables: ["secrets"],
  needs: { audit, encryption, references },
  open({ sql, now, newId, warn }, { audit, encryption, references }) {
    const store = postgresSecrets({ sql, encryption, now, newId });
    references.from(secretSource(sql, store, audit));
    return {
      service: store,
      routes: secretRoutes({ sql, secrets: createSecretService(sql, store, audit), encryption, newId }),
      sweeps: [
        () => encryption.startReencryption(encryptedColumns),
        () =>
          repeatedly(
            sweepEveryMs,
            async () => void (await sweepDeleted(sql)),
            (error) => warn("secrets_sweep_failed", { error: String(error) }),
          ),
      ],
    };
  },
});
