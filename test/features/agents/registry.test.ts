/** The runtime registry file (docs/reference/agents.md). */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInRuntimes, findRuntime } from "../../../actors/agent/manifest/runtime/runtimes.ts";
import { loadRuntimes } from "../../../src/features/agents/registry.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-registry-"));
afterAll(() => rmSync(folder, { recursive: true }));

function load(text: string) {
  const file = join(folder, "registry.yaml");
  writeFileSync(file, text);
  return loadRuntimes(file);
}

test("absent: the built-in table", () => {
  expect(loadRuntimes(null)).toBe(builtInRuntimes);
});

test("entries join and replace; versions are text", () => {
  const runtimes = load(`
kind: RuntimeRegistry
spec:
  registry_url: https://registry.example/
  runtimes:
    python:
      3.10: {image: acme/python:1, description: ours, deprecated: true, bootstrap_env: {A: b}}
    zig:
      "0.13": {image: ghcr.io/acme/zig:0.13}
`);
  expect(findRuntime(runtimes, "python", "3.10")).toEqual({
    language: "python",
    version: "3.10",
    image: "registry.example/acme/python:1",
    description: "ours",
    bootstrapEnv: { A: "b" },
    deprecated: true,
  });
  expect(findRuntime(runtimes, "zig", "0.13")?.image).toBe("ghcr.io/acme/zig:0.13");
  expect(findRuntime(runtimes, "python", "3.11")?.image).toBe("python:3.11-slim");
  expect(runtimes).toHaveLength(builtInRuntimes.length + 1);
});

test.each([
  ["broken YAML", "kind: ["],
  ["another kind", "kind: Agent\nspec: {runtimes: {}}"],
  ["no kind", "spec: {runtimes: {}}"],
  ["no runtimes", "kind: RuntimeRegistry"],
  ["no image", "kind: RuntimeRegistry\nspec: {runtimes: {go: {'1': {}}}}"],
  ["versions that are no map", "kind: RuntimeRegistry\nspec: {runtimes: {go: [1]}}"],
  ["an entry that is no map", "kind: RuntimeRegistry\nspec: {runtimes: {go: {'1': x}}}"],
  ["deprecated as text", "kind: RuntimeRegistry\nspec: {runtimes: {go: {'1': {image: a/b, deprecated: 'yes'}}}}"],
])("%s stops the start", (_what, text) => {
  expect(() => load(text)).toThrow("SVC_RUNTIME_REGISTRY");
});

test("a configured file that is not there stops the start", () => {
  expect(() => loadRuntimes(join(folder, "nowhere.yaml"))).toThrow("SVC_RUNTIME_REGISTRY");
});
