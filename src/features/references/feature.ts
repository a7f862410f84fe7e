/** References in definitions: what they mean, who may use them, and hiding what they mean. */
import { defineFeature } from "../feature.ts";
import { createReferences } from "./references.ts";

export const references = defineFeature({
  name: "references",
  open: () => ({ service: createReferences() }),
});
