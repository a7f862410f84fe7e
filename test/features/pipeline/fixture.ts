/** The pipeline of tool calls on real stores, without a node around it: contexts, counters, records, tools of the test. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { SecurityContextSpec } from "../../../actors/policy/security/spec.ts";
import { createIncidents } from "../../../src/features/incidents/service.ts";
import { createInvocationReader } from "../../../src/features/invocations/records.ts";
import { createInvocationWriter } from "../../../src/features/invocations/writer.ts";
import { noLimiter } from "../../../src/features/limits/limiter.ts";
import type { Call } from "../../../src/features/pipeline/port.ts";
import { createPipeline } from "../../../src/features/pipeline/service.ts";
import { openCallCounters } from "../../../src/features/security-contexts/counters.ts";
import type { RegisteredTool, ToolOutcome, ToolRequest } from "../../../src/features/tools/port.ts";
import { createRegistry } from "../../../src/features/tools/registry.ts";
import type { TestStores } from "../../harness/stores.ts";

export function toolOf(name: string, change: Partial<RegisteredTool> = {}): RegisteredTool {
  return {
    name,
    aliases: [],
    description: name,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    source: "builtin",
    executor: "server",
    runs: "service",
    readOnly: true,
    idempotent: true,
    ...change,
  };
}

type Answer = (request: ToolRequest) => ToolOutcome | Promise<ToolOutcome>;

/** @param tools with what each answers */
export function openPipeline(
  { sql, redisUrl, prefix }: TestStores,
  tools: readonly (readonly [RegisteredTool, Answer])[],
) {
  const specs = new Map<string, SecurityContextSpec>([
    ["open", { capabilities: [{ tool_pattern: "*" }], deny_list: [] }],
  ]);
  const registry = createRegistry();
  const listed = tools.map(([tool]) => tool);
  const called: ToolRequest[] = [];
  registry.fill([
    {
      tools: () => listed,
      async call(request) {
        called.push(request);
        const answer = tools.find(([{ name }]) => name === request.name)?.[1];
        if (answer === undefined) throw new Error(`no answer of ${request.name}`);
        return answer(request);
      },
    },
  ]);
  const newId = () => Bun.randomUUIDv7();
  const counters = openCallCounters({ redisServers: redisUrl, prefix, newId, warn: () => {} });
  /** How often the store of places does not answer from now on. */
  const places = { away: 0 };
  const acquire: typeof counters.acquire = (...given) => {
    if (places.away === 0) return counters.acquire(...given);
    places.away -= 1;
    return Promise.reject(new Problem("service_unavailable", "away", {}, { "Retry-After": "1" }));
  };
  const incidents = createIncidents({ sql, now: Date.now, newId, retentionDays: 90, warn: () => {} });
  const invocations = createInvocationWriter({ sql, now: Date.now, node: newId(), warn: () => {} });
  const pipeline = createPipeline({
    registry,
    contexts: {
      bindings: async (_, name, ceilings) =>
        [name, ...ceilings].map((one) => ({ name: one, version: 3, spec: specs.get(one) ?? null })),
    },
    counters: { ...counters, acquire },
    limiter: noLimiter,
    incidents,
    invocations,
    now: Date.now,
    warn: () => {},
  });
  return {
    pipeline,
    specs,
    called,
    places,
    incidents,
    invocations,
    reader: createInvocationReader(sql),
    async close() {
      await invocations.stop();
      await incidents.stop();
      await counters.stop();
    },
  };
}

/** A call of a session without an execution, under the context `open`. */
export function callOf(tool: string, given: Call["arguments"] = {}, change: Partial<Call> = {}): Call {
  return {
    tenant: "acme",
    entry: "seal",
    tool,
    arguments: given,
    idempotencyKey: Bun.randomUUIDv7(),
    invocationId: Bun.randomUUIDv7(),
    who: { execution: null, sessionId: null, principal: "realm/user", starter: null, opener: null, user: null },
    policy: { context: "open", ceilings: [], tools: null, patterns: null },
    requestId: null,
    signal: new AbortController().signal,
    ...change,
  };
}

/** Grants of a manifest. */
export const granted = (...names: readonly string[]) => names.map((name) => ({ name, skip_judge: false }));
