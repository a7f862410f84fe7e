/** Clients with code of their own, as programs in a sandbox in the place of the bootstrap (docs/guide/seal-client.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { shell } from "../../harness/manifests.ts";
import { scratch } from "../../harness/scratch.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at?.close());

const isThere = (...programs: readonly string[]) => programs.every((path) => existsSync(path));

async function talk(file: string) {
  const program = join(scratch("client"), file);
  copyFileSync(join(import.meta.dir, "clients", file), program);
  const record = await at.run({ spec: { advanced: { bootstrap_path: program } }, tools: ["*"] });
  expect([record.status, record.error ?? null]).toEqual(["completed", null]);
  return JSON.parse(record.output);
}

test.each<[string, readonly string[]]>([
  ["client.py", ["/usr/bin/python3", "/usr/bin/openssl"]],
  ["client.mjs", ["/usr/bin/node"]],
])("an independent client attests and calls tools from a sandbox: %s", async (file, needed) => {
  // Machines without the interpreter have nothing to run it by.
  if (!isThere(...needed)) return;
  const { written, read, refused } = await talk(file);
  expect(written).toMatchObject({ status: "success", result: { status: "success" } });
  expect(read.result.content).toBe("grüße 😀\n\u0001");
  expect(refused[0]).toBe(403);
  expect(refused[1]).toBeString();
});

test("a dispatched command has no identity", async () => {
  const look = "printenv SVC_EXECUTION_TOKEN || echo none; printenv SVC_ORCHESTRATOR_URL; cat /proc/1/environ; true";
  const script = [shell(look), { content: "{{last}}" }];
  const record = await at.run({ script, tools: ["*"] });
  expect(record.status).toBe("completed");
  expect(JSON.parse(record.output).stdout).toStartWith("none\nhttp");
  expect(record.output).not.toContain("/x/");
});
