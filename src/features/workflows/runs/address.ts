/** Where the actor of a workflow run lives. */
import { workflowRunProtocol } from "../../../../actors/workflow/run/messages.ts";
import type { Address } from "../../../runtime/port.ts";

export const runAddress = (tenant: string, executionId: string): Address => ({
  kind: workflowRunProtocol.kind,
  key: executionId,
  tenant,
});
