/** Types of providers and models at a vendor's server, for tests of what is sent and what comes back. */
import type { Models, ToolDescription } from "../../../src/adapters/models/call.ts";
import { createModels } from "../../../src/adapters/models/models.ts";
import type { startVendor, Wire } from "../../harness/outside/vendor.ts";
import { configOf, quickTiming } from "./fixture.ts";

type Vendor = Awaited<ReturnType<typeof startVendor>>;

/** Types of providers, each with the wire that it speaks. */
export const kinds = [
  ["openai", "openai"],
  ["openai-compatible", "openai"],
  ["ollama", "openai"],
  ["anthropic", "anthropic"],
  ["google", "google"],
] as const satisfies readonly (readonly [string, Wire])[];
export const key = "sk-test-1234567890";

/** Models of one provider of that type at the vendor's server. */
export const modelsAt =
  (vendor: Vendor) =>
  (type: string, wire: Wire, callTimeoutMs = 10_000, capabilities: readonly string[] = []): Models => {
    const { providers, selection } = configOf({
      llm_providers: [
        {
          name: `my-${type}`,
          type,
          endpoint: type === "ollama" ? vendor.origin : vendor.endpoint(wire),
          api_key: "env:TEST_KEY",
          models: [
            { alias: "default", model: "test-model", capabilities, cost_per_1k_tokens: { input: 1, output: 2 } },
          ],
        },
      ],
      llm_selection: { max_retries: 0 },
    });
    return createModels({ config: { providers, selection: { ...selection, callTimeoutMs } }, timing: quickTiming() });
  };

export const tools: readonly ToolDescription[] = [
  {
    name: "fs.read",
    description: "Reads a file",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
  {
    name: "cmd.run",
    description: "Runs a command",
    inputSchema: { type: "object", properties: { command: { type: "string" } } },
  },
];
