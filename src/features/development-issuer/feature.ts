/** The development issuer's endpoints; outside development mode there are none. */
import { defineFeature } from "../feature.ts";
import { developmentIssuerRoutes } from "./routes.ts";

export const developmentIssuer = defineFeature({
  name: "development-issuer",
  open: ({ issuer }) => ({ service: null, routes: issuer === null ? [] : developmentIssuerRoutes(issuer) }),
});
