/** The command line against a running node (docs/reference/agents.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { scratch } from "../harness/scratch.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

const program = join(import.meta.dir, "../../src/programs/cli/main.ts");
const file = join(scratch("cli"), "agent.yaml");
let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
});
afterAll(async () => {
  await node.dispose();
  await stores.dispose();
});

async function cli(...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, program, ...args], {
    env: { PATH: process.env.PATH ?? "", SVC_URL: node.url },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { out, err, code: await child.exited };
}

const manifest = (answer: string, version = "1.0.0", spec: object = {}) =>
  JSON.stringify({
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name: "speaker", version },
    spec: {
      runtime: { language: "python", version: "3.12", model: "default" },
      task: { instruction: ["Say it.", "```svc-script", JSON.stringify([{ content: answer }]), "```"].join("\n") },
      execution: { mode: "one-shot" },
      ...spec,
    },
  });

test("run: a changed manifest of the same version is deployed, an equal one is not", async () => {
  writeFileSync(file, manifest("the first answer"));
  const first = await cli("run", file);
  expect(first).toMatchObject({ code: 0, err: "" });
  expect(first.out).toContain("deployed speaker 1.0.0\n");
  expect(first.out).toContain("the first answer");
  const again = await cli("run", file);
  expect(again.out).toContain("speaker 1.0.0 is deployed already, unchanged\n");
  writeFileSync(file, manifest("the second answer"));
  const changed = await cli("run", file);
  expect(changed.out).toContain("deployed speaker 1.0.0, revision 2: the manifest has changed\n");
  expect(changed.out).toContain("the second answer");
  // A newer version is current by now; what runs is what the file says.
  await node.call("POST", "/v1/agents", JSON.parse(manifest("the newest answer", "2.0.0")));
  const older = await cli("run", file);
  expect(older.out).toContain("the second answer");
});

test("run: a refusal names every issue with its path, and warnings are told", async () => {
  const broken = { runtime: { language: "cobol", version: "1", model: "default" }, task: {}, tools: 7 };
  writeFileSync(file, manifest("x", "3.0.0", broken));
  const refused = await cli("run", file);
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.err).toMatch(/^422 \w+: /);
  expect(refused.err).toMatch(/^ {2}spec\.runtime\S*: .*python 3\.12/m);
  expect(refused.err).toMatch(/^ {2}spec\.tools: .+/m);
  const judged = {
    execution: { mode: "one-shot", validation: [{ type: "semantic", judge_agent: "no-such-judge", criteria: "fits" }] },
  };
  writeFileSync(file, manifest("x", "4.0.0", judged));
  const warned = await cli("run", file);
  expect(warned.err).toContain("(judge_not_found)");
  const missing = await cli("run", "no-such-file.yaml");
  expect(missing).toMatchObject({ code: 1, err: "no-such-file.yaml cannot be read: there is no such file\n" });
});
