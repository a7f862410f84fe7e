/** The egress proxy: the only way out for sandboxes, open to what their manifests allow. */
import { join } from "node:path";
import { address, port, text } from "../../config/setting.ts";
import { executionTokens } from "../execution-tokens/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import type { FurtherSubjects } from "./admission.ts";
import { createEgress } from "./open.ts";

export const egress = defineFeature({
  name: "egress",
  needs: { executions, executionTokens, incidents },
  settings: {
    egressHost: text("SVC_EGRESS_HOST", {
      meaning: "address of the egress proxy",
      ...address,
      default: "127.0.0.1",
    }),
    egressPort: port("SVC_EGRESS_PORT", { meaning: "port of the egress proxy", default: 8082 }),
  },
  open(
    { settings, dataDir, outside, openEgress, runtime, info, development, environmentAsSet },
    { executions, executionTokens, incidents },
  ) {
    const further: FurtherSubjects[] = [];
    const egress = createEgress({
      further,
      hostname: settings.egressHost,
      port: settings.egressPort,
      // Two checkouts run beside each other without a word.
      mayMove: development && (environmentAsSet().SVC_EGRESS_PORT ?? "") === "",
      socket: join(dataDir, "egress", `${runtime.nodeId}.sock`),
      outside,
      openEgress,
      tokens: executionTokens.egress,
      runtime,
      plans: executions.plans,
      incidents,
      maskerOf: executions.maskerOf,
      log: info,
    });
    /** Registers what beside executions and runs has sandboxes that reach outside. */
    const alsoServes = (subjects: FurtherSubjects): void => void further.push(subjects);
    return { service: { alsoServes }, listener: { name: "egress", open: egress.listen }, metrics: egress.metrics };
  },
});
