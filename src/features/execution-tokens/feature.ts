/** Execution tokens: by them a sandbox instance says which execution it works for, at the gateway and at the egress proxy. */
import { defineFeature } from "../feature.ts";
import { createGatewayKeys } from "./keys.ts";
import { createExecutionTokens } from "./tokens.ts";

export const executionTokens = defineFeature({
  name: "execution-tokens",
  open({ sql, now, databaseNow }) {
    const keys = createGatewayKeys(sql);
    return {
      service: {
        gateway: createExecutionTokens(keys, databaseNow),
        egress: createExecutionTokens(keys, now, "svc-egress"),
        /** The public halves of the keys that they are signed with. */
        publicKeys: keys.published,
      },
    };
  },
});
