/**
 * A whole node whose sandbox does nothing: an instance "runs" for ever, so that what is measured is
 * svc itself. Settings come from the environment as for the real program.
 */

import type { Sandbox } from "../../src/adapters/sandbox/port.ts";
import { defineFeature } from "../../src/features/feature.ts";
import type { RegisteredTool, ToolProvider } from "../../src/features/tools/port.ts";
import { loadConfig } from "../../src/node/config.ts";
import { startNode } from "../../src/node/node.ts";

const never = new Promise<never>(() => {});

const stub: Sandbox = {
  describe: () => ({ isolation: "process", sandbox: "none", egressEnforced: true, unenforcedLimits: [] }),
  // Whoever plays the agent needs to know who it is.
  launch: async ({ executionId, environment, egress }) => {
    const token = environment.SVC_EXECUTION_TOKEN;
    console.log(JSON.stringify({ launched: executionId, token, egress: egress?.password }));
  },
  inspect: async () => "gone",
  pause: async () => "gone",
  exec: async () => null,
  resume: async () => {},
  follow: async (_instance, { signal }) => {
    const cut = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error(String(signal.reason))));
    });
    return Promise.race([never, cut]);
  },
  terminate: async () => {},
  remove: async () => {},
  list: async () => [],
};

/** As many tools as `--tools=` says, of a schema like most have. */
const wanted = Number(process.argv.find((word) => word.startsWith("--tools="))?.slice("--tools=".length) ?? 0);
const many = Array.from(
  { length: wanted },
  (_, number): RegisteredTool => ({
    name: `bench.tool-${number}`,
    aliases: [],
    description: `Searches the records of department ${number} by words, dates and owners. ${"It says more. ".repeat(10)}`,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        ["query", "since", "until", "owner", "limit"].map((name) => [
          name,
          { type: "string", description: `What ${name} of the records has to be`, maxLength: 200 },
        ]),
      ),
      required: ["query"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    source: "builtin",
    executor: "server",
    runs: "service",
    readOnly: true,
    idempotent: true,
  }),
);

/** A tool that does nothing: what is measured with it is the way there. */
const nothing = defineFeature({
  name: "bench",
  open: () => {
    const tools: readonly RegisteredTool[] = [
      {
        name: "bench.nothing",
        aliases: [],
        description: "Does nothing",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        source: "builtin",
        executor: "server",
        runs: "service",
        readOnly: true,
        idempotent: true,
      },
      ...many,
    ];
    const provider: ToolProvider = {
      tools: () => tools,
      call: async () => ({ status: "succeeded", result: {} }),
    };
    return { service: null, toolProviders: [provider] };
  },
});

const parts = { features: [nothing], ...(process.argv.includes("--real-sandbox") ? {} : { sandbox: stub }) };
const node = await startNode(loadConfig(process.env), () => {}, parts);
console.log(JSON.stringify({ port: node.port, internalPort: node.internalPort, egressPort: node.egressPort }));
process.on("SIGTERM", () => void node.stop().then(() => process.exit(0)));
