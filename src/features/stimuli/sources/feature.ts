/** Sources of stimuli: their routes and routers, their secrets, the file that makes the first ones. */

import { ConfigError } from "../../../config/load.ts";
import { anyText, text } from "../../../config/setting.ts";
import { agents } from "../../agents/feature.ts";
import { audit } from "../../audit/feature.ts";
import { encryption } from "../../encryption/feature.ts";
import { defineFeature } from "../../feature.ts";
import { references } from "../../references/feature.ts";
import { secrets } from "../../secrets/feature.ts";
import { definitions } from "../../workflows/definitions/feature.ts";
import { bootSourcesFrom } from "./boot/boot.ts";
import { exported } from "./exported.ts";
import { createSources } from "./lookup.ts";
import { createRouters } from "./routers/service.ts";
import { sourceRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createSourceService } from "./service.ts";
import { environmentSecrets } from "./verification/environment.ts";
import { openFailedVerifications } from "./verification/failed-verifications.ts";
import { encryptedColumns } from "./verification/secrets.ts";

export { Handshake } from "./presets/preset.ts";
export { eventNamesOf } from "./presets/presets.ts";
export type { FailedVerifications, Sender } from "./verification/failed-verifications.ts";
export { readSignatures, type SignedCandidate, verifyInTurns } from "./verification/verify.ts";
export { guardsReplays } from "./wire.ts";

export const sources = defineFeature({
  name: "stimuli/sources",
  exported,
  tenantTables: ["stimulus_sources", "stimulus_routers"],
  schemas: named,
  needs: { agents, audit, encryption, definitions, references, secrets },
  settings: {
    stimulusRoutesFile: text("SVC_STIMULUS_ROUTES_FILE", {
      meaning: "YAML file of sources and routers that are made at the start where there are none yet",
      pattern: anyText.pattern,
      bounds: "a path",
      default: "",
    }),
  },
  variablePrefixes: ["SVC_WEBHOOK_SECRET_", "SVC_WEBHOOK_TENANT_", "SVC_WEBHOOK_DEFAULT_TENANT"],
  help: `Secrets of webhooks, beside those of stored sources; names in capitals, other characters as _:
  SVC_WEBHOOK_SECRET_<SOURCE>            of a source, for one tenant:
  SVC_WEBHOOK_TENANT_<SOURCE>              this one, else
  SVC_WEBHOOK_DEFAULT_TENANT               this one, else svc-system
  SVC_WEBHOOK_SECRET_<TENANT>__<SOURCE>  of a source, for that tenant
  …_PREVIOUS of either                   accepted as well, for rotation`,
  async open({ settings, ...node }, { agents, audit, encryption, definitions, references, secrets }) {
    const { sql, redisServers, prefix, tenants, publicUrl, now, newId, info, warn } = node;
    const environment = environmentSecrets(node.environmentAsSet());
    if (environment.unusable.length > 0) warn("webhook_secrets_unusable", { names: environment.unusable });
    if (settings.stimulusRoutesFile !== "") {
      const problems = await bootSourcesFrom(
        { sql, encryption, audit, tenants, now, newId },
        settings.stimulusRoutesFile,
      );
      if (problems.length > 0) throw new ConfigError(problems);
    }
    const findAgent = agents.identify;
    const sources = createSources({ sql, encryption, environment, secrets, findAgent, report: info, now });
    const failed = openFailedVerifications({ redisServers, prefix, now });
    const service = createSourceService({
      sql,
      encryption,
      audit,
      definitions,
      environment,
      references,
      publicUrl,
      changed: sources.forgetSource,
      now,
      newId,
    });
    const routers = createRouters({ sql, audit, definitions, findAgent, changed: sources.forgetRouter, now });
    return {
      service: { ...sources, failed },
      routes: sourceRoutes({ sources: service, routers }),
      sweeps: [() => encryption.startReencryption(encryptedColumns)],
      async close() {
        await sources.close();
        failed.close();
      },
    };
  },
});
