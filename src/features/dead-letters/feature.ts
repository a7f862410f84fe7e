/** Messages whose turn failed for good, for the platform's operators to look at and to send again. */
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { deadLetterRoutes } from "./routes.ts";
import { named } from "./schema.ts";

export const deadLetters = defineFeature({
  name: "dead-letters",
  needs: { audit },
  schemas: named,
  open: ({ runtime }, { audit }) => ({
    service: null,
    routes: deadLetterRoutes({ letters: runtime.deadLetters, audit }),
  }),
});
