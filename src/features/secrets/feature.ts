/** Secrets of tenants: kept encrypted or in a vault, read on record, referred to by definitions. */
import { openVault } from "../../adapters/vault/port.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { defineFeature, type Stop } from "../feature.ts";
import { references } from "../references/feature.ts";
import { exported } from "./exported.ts";
import { encryptedColumns, postgresSecrets, sweepDeleted } from "./postgres/store.ts";
import { secretRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createSecretService } from "./service.ts";
import { contradictions, type SecretSettings, secretSettings } from "./settings.ts";
import { secretSource, secretValues } from "./source.ts";
import type { SecretStore } from "./store.ts";
import { vaultSecrets } from "./vault/store.ts";

/** How often rows of secrets deleted long ago are looked for. */
const sweepEveryMs = 3_600_000;
const serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";

export const secrets = defineFeature({
  name: "secrets",
  exported,
  schemas: named,
  tenantTables: ["secrets"],
  needs: { audit, encryption, references },
  settings: secretSettings,
  contradictions,
  open({ settings, sql, now, newId, warn }, { audit, encryption, references }) {
    const jobs: (() => Stop)[] = [];
    const isVault = settings.secretsBackend === "vault";
    const store = isVault ? inVault() : postgresSecrets({ sql, encryption, now, newId });
    references.from(secretSource(sql, store, audit));

    function inVault(): SecretStore {
      const vault = openVault({ ...vaultOf(settings), now, report: (reason) => warn("vault_token", { reason }) });
      jobs.push(vault.start);
      return vaultSecrets({
        vault,
        namespaces: settings.vaultNamespaces,
        async namespaceOf(tenant) {
          const [row] = await sql<{ vault_namespace: string | null }[]>`
            select vault_namespace from tenants where slug = ${tenant}`;
          return row?.vault_namespace ?? null;
        },
      });
    }

    return {
      service: secretValues(store),
      routes: secretRoutes({ sql, secrets: createSecretService(sql, store, audit), encryption, newId }),
      health: { secrets: () => store.probe() },
      jobs,
      // Rows of before, where the backend was changed, go with the tenant's tables.
      ...(isVault
        ? {
            async erase(tenant: string) {
              await store.erase(tenant);
              return true;
            },
          }
        : {}),
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

/** @throws StartFailure for a CA file that cannot be read */
function vaultOf(settings: SecretSettings) {
  const { vaultAddress, vaultCaFile, vaultMount, vaultAuth, vaultToken, vaultRole, vaultAuthPath } = settings;
  const method = { role: vaultRole, mount: vaultAuthPath, tokenFile: serviceAccountToken };
  // The check of the settings has seen that what the method needs is there.
  if (vaultAddress === null || (vaultAuth === "token" && vaultToken === null)) {
    throw new StartFailure("SVC_SECRETS_BACKEND vault needs SVC_VAULT_ADDR and a way to enter it.");
  }
  return {
    address: vaultAddress,
    caFile: vaultCaFile === "" ? null : vaultCaFile,
    mount: vaultMount,
    auth:
      vaultAuth === "token" && vaultToken !== null
        ? ({ method: "token", token: vaultToken } as const)
        : ({ method: "kubernetes", ...method } as const),
  };
}
