/** The documentation: `docs/` as a site at `/docs`, and the reference of the API at `/docs/api`. */
import { join } from "node:path";
import { version } from "../../../package.json";
import { defineFeature } from "../feature.ts";
import { documentationRoutes } from "./routes.ts";
import { openSite } from "./site/site.ts";

const root = join(import.meta.dir, "../../../docs");

export const documentation = defineFeature({
  name: "documentation",
  async open() {
    const site = await openSite(root, version);
    return { service: null, routes: documentationRoutes(site) };
  },
});
