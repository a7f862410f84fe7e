/** A request to a tool provider, as the pipeline would make it. */
import type { ToolRequest } from "../../../src/features/tools/port.ts";

export function requestOf(
  name: string,
  given: Record<string, unknown>,
  change: Partial<ToolRequest> = {},
): ToolRequest {
  return {
    name,
    arguments: given,
    tenant: "t",
    entry: "dispatch",
    executionId: "e",
    invocationId: "00000000-0000-7000-8000-000000000001",
    idempotencyKey: "00000000-0000-7000-8000-000000000002",
    who: {
      execution: { id: "e", iteration: 1, agentId: "a", agentName: "agent", deadlineAt: null },
      sessionId: null,
      principal: "e",
      starter: null,
      opener: null,
      user: null,
    },
    policy: { context: "svc-agent-runtime", ceilings: [], tools: null, patterns: null },
    bounds: { maxTimeoutSecs: 3600, maxResponseBytes: 10_485_760, pathRules: [], domainRules: [] },
    signal: new AbortController().signal,
    ...change,
  };
}
