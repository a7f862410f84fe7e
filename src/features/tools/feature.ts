/** Tools that agents' models may call: what a provider of them is, and the file system tools. */
import { defineFeature } from "../feature.ts";
import { createToolbox } from "./toolbox.ts";

export type { Toolbox } from "./toolbox.ts";

export const tools = defineFeature({
  name: "tools",
  open: () => ({ service: { createToolbox } }),
});
