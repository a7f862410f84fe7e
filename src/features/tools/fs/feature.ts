/** The file system tools, and the view of an execution's volumes that they work on. */
import { defineFeature } from "../../feature.ts";
import { tools } from "../feature.ts";

export { createFsTools, runFsTool } from "./provider.ts";

export const fsTools = defineFeature({
  name: "tools/fs",
  needs: { tools },
  open: () => ({ service: null }),
});
