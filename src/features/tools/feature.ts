/** Tools that agents and their sessions may call: what a provider of them is, and what a tenant has of all providers. */
import { defineFeature } from "../feature.ts";
import { createRegistry } from "./registry.ts";

export { createCommandTool, noWayIn } from "./command/provider.ts";

export const tools = defineFeature({
  name: "tools",
  open: () => {
    const { fill, ...registry } = createRegistry();
    return { service: registry, toolsKnown: fill };
  },
});
