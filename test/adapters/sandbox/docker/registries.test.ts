/** Registries that a name leads to (docs/reference/sandboxes.md); nothing is dialled here. */
import { expect, test } from "bun:test";
import { registryGuard } from "../../../../src/adapters/sandbox/docker/images/registries.ts";

const names: Readonly<Record<string, readonly string[]>> = {
  "public.example.net": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "loopback.example.net": ["127.0.0.1"],
  "mixed.example.net": ["93.184.215.14", "10.0.0.7"],
  "metadata.example.net": ["169.254.169.254"],
  "mapped.example.net": ["::ffff:192.168.0.1"],
  "odd.example.net": ["0177.0.0.1"],
};
const resolve = async (name: string) => {
  const found = names[name];
  if (found === undefined) throw new Error("ENOTFOUND");
  return found;
};

test.each([
  ["public.example.net", null, true],
  ["public.example.net:5000", ["*"], true],
  ["loopback.example.net:5000", null, false],
  ["mixed.example.net", ["*"], false],
  ["metadata.example.net", null, false],
  ["mapped.example.net", null, false],
  ["odd.example.net", null, false],
  // The operator's own word.
  ["loopback.example.net:5000", ["*", "loopback.example.net:5000"], true],
  ["loopback.example.net:5001", ["*", "loopback.example.net:5000"], false],
  // The engine may know better.
  ["unknown.example.net", null, true],
] as const)("images of %s with the list %p may be pulled: %p", async (registry, registries, allowed) => {
  expect(await registryGuard(registries, resolve)(registry)).toBe(allowed);
});
