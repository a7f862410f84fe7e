/** The console: its static files, and who is calling. */
import { defineFeature } from "../feature.ts";
import { signIn } from "../sign-in/feature.ts";
import { consoleRoutes } from "./routes.ts";
import { Caller } from "./schema.ts";

export const consoleFeature = defineFeature({
  name: "console",
  schemas: { Caller },
  needs: { signIn },
  open: (node, { signIn }) => ({ service: null, routes: consoleRoutes(node, signIn) }),
});
