/** What models are shown of tools' arguments. */
import { expect, test } from "bun:test";
import { createCommandTool } from "../../../src/features/tools/command/provider.ts";
import { createFsTools } from "../../../src/features/tools/fs/provider.ts";
import { createRegistry } from "../../../src/features/tools/registry.ts";

const never = () => Promise.reject(new Error("no tool is called here"));
const registry = createRegistry();
registry.fill([createCommandTool(never), createFsTools(never)]);
const { listed: described } = await registry.of("t");

test("cmd.run asks for its command alone", () => {
  const { inputSchema } = described.find(({ name }) => name === "cmd.run") ?? {};
  expect(inputSchema?.required).toEqual(["command"]);
  expect(Object.keys(inputSchema?.properties ?? {})).toEqual([
    "command",
    "args",
    "cwd",
    "env_additions",
    "timeout_secs",
    "max_output_bytes",
  ]);
});

test("no tool requires an argument that has a default", () => {
  expect(described.length).toBeGreaterThan(5);
  for (const { name, inputSchema } of described) {
    const properties = (inputSchema.properties ?? {}) as Record<string, { readonly default?: unknown }>;
    const required = (inputSchema.required ?? []) as readonly string[];
    expect([name, required.filter((member) => properties[member]?.default !== undefined)]).toEqual([name, []]);
  }
});
