/** The models of the service at run time: their configuration is read again, on every node. */
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { secrets } from "../secrets/feature.ts";
import { keysIn } from "./keys.ts";
import { modelRoutes } from "./routes.ts";
import { openReloading } from "./service.ts";

export const models = defineFeature({
  name: "models",
  needs: { audit, secrets },
  open({ models, sql, redisServers, prefix, runtime, info, warn }, { audit, secrets }) {
    models.keysFrom(keysIn({ sql, audit, secrets }));
    const reloading = openReloading({ models, redisServers, prefix, nodeId: runtime.nodeId, info, warn });
    return { service: null, routes: modelRoutes({ reloading, sql, audit }), close: reloading.close };
  },
});
