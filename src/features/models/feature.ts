/** The models of the service at run time: their configuration is read again, on every node. */
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { secrets } from "../secrets/feature.ts";
import { holdsKey, keysIn } from "./keys.ts";
import { modelRoutes } from "./routes.ts";
import { openReloading } from "./service.ts";

export const models = defineFeature({
  name: "models",
  needs: { audit, secrets },
  async open({ models, sql, redisServers, prefix, runtime, info, warn }, { audit, secrets }) {
    const keys = keysIn({ sql, audit, secrets });
    models.keysFrom(keys);
    // Until now no key in a secret could be read, so that the defaults were chosen without them.
    if (await holdsKey(secrets)) await models.reload();
    const reloading = openReloading({ models, redisServers, prefix, nodeId: runtime.nodeId, info, warn });
    return { service: null, routes: modelRoutes({ reloading, models, sql, audit }), close: reloading.close };
  },
});
