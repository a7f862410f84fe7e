/** API keys: what people and machines call with in place of a token. */
import { audit } from "../audit/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { sealedAnswers } from "../encryption/port.ts";
import { defineFeature } from "../feature.ts";
import { exported } from "./exported.ts";
import { apiKeyRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createApiKeys } from "./service.ts";

export const apiKeys = defineFeature({
  name: "api-keys",
  exported,
  schemas: named,
  tenantTables: ["api_keys"],
  needs: { audit, encryption },
  open({ sql, keys, users, tenants, now, newId }, { audit, encryption }) {
    const apiKeys = createApiKeys({ sql, keys, users, audit, now });
    // Keys that ended are told of as long as the log that names them.
    audit.erases(apiKeys.eraseEnded);
    return {
      service: null,
      routes: apiKeyRoutes({ sql, apiKeys, tenants, seal: sealedAnswers(encryption), newId }),
      // What is known of people whose keys and memberships go with the tenant goes, too.
      erase: async (tenant) => {
        await users.forgetOf(tenant);
        return true;
      },
    };
  },
});
