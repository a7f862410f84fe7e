/** The agent that the start banner and the README run. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { validateManifest } from "../../../actors/agent/manifest/manifest.ts";
import { parseManifest } from "../../../actors/agent/manifest/parse.ts";
import { offer } from "../../actors/agent/offer.ts";

const text = readFileSync(join(import.meta.dir, "../../../src/features/agents/sample/hello-agent.yaml"), "utf8");

test("deploys without issues or warnings", () => {
  const verdict = validateManifest(parseManifest({ mediaType: "application/yaml", text }).document, offer);
  expect(verdict).toMatchObject({ ok: true, warnings: [] });
});

test("carries a script that uses only its own tools and ends with an answer", () => {
  const verdict = validateManifest(parseManifest({ mediaType: "application/yaml", text }).document, offer);
  if (!verdict.ok) throw verdict.problem;
  const { task, tools } = verdict.spec;
  const script = /```svc-script\n([\s\S]*?)```/.exec(task.instruction)?.[1] ?? "";
  const replies: { content?: string; tool_calls?: { name: string }[] }[] = JSON.parse(script);
  const granted = tools.map((tool) => tool.name);
  for (const call of replies.flatMap((reply) => reply.tool_calls ?? [])) expect(granted).toContain(call.name);
  expect(replies.at(-1)?.tool_calls).toBeUndefined();
  expect(replies.at(-1)?.content).toContain("hello from hello-agent");
});
