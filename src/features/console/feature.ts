/** The console: its static files, and who is calling. */
import { defineFeature } from "../feature.ts";
import { consoleRoutes } from "./routes.ts";
import { Caller } from "./schema.ts";

export const consoleFeature = defineFeature({
  name: "console",
  schemas: { Caller },
  open: (node) => ({ service: null, routes: consoleRoutes(node) }),
});
