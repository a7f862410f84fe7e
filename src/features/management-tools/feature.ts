/** Management tools: what the API does, as tools of agents. The features whose operations they are bring them. */
import { defineFeature } from "../feature.ts";
import { tools } from "../tools/feature.ts";
import { createManagementProvider } from "./provider.ts";

export const managementTools = defineFeature({
  name: "management-tools",
  needs: { tools },
  open({ starters }) {
    const provider = createManagementProvider(starters);
    return {
      service: {
        offer: provider.offer,
        mayCall: provider.mayCall,
        all: provider.all,
        actingFor: provider.actingFor,
      },
      toolProviders: [provider],
    };
  },
});
