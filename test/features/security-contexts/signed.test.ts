/** Signed calls of a whole node under a security context (docs/reference/security-contexts.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { agentKey, call, envelope, SealFixture, told } from "../seal/fixture.ts";

const context = {
  deny_list: ["fs.delete"],
  capabilities: [
    { tool_pattern: "fs.read", path_allowlist: ["/workspace"], max_response_size: 100 },
    { tool_pattern: "fs.glob", rate_limit: { calls: 2, per_seconds: 60 } },
    { tool_pattern: "fs.write" },
    { tool_pattern: "cmd.run", subcommand_allowlist: { ln: ["-s"], sleep: ["300"] } },
    { tool_pattern: "cmd.run", subcommand_allowlist: { git: ["status"], sleep: ["1"] }, max_concurrent: 1 },
    { tool_pattern: "*", command_allowlist: [], path_allowlist: ["/workspace"], domain_allowlist: ["x.org"] },
  ],
};

let at: SealFixture;
let token: string;
const { privateKey, raw } = agentKey();
beforeAll(async () => {
  at = await SealFixture.open();
  await at.node.call("POST", "/v1/security-contexts", { name: "held", ...context });
  const instance = await at.instance({
    script: [
      calls(["cmd.run", { command: "ln", args: ["-s", "/etc", "/workspace/link"] }]),
      calls(["cmd.run", { command: "sleep", args: ["300"] }]),
    ],
    spec: { security_context: "held" },
  });
  token = (await at.attestInside(instance, { public_key: raw.toString("base64") })).body.security_token;
});
afterAll(() => at?.close());

const invoke = (tool: string, given: object = {}) =>
  at.outside("/v1/seal/invoke", envelope(privateKey, token, call(tool, given)));
const onPaper = async (tool_name: string, given: object): Promise<LooseJson> =>
  (await at.node.call("POST", "/v1/security-contexts/held/evaluate", { tool_name, arguments: given })).body;

test("a deny list beats *, names and commands are held to what is listed", async () => {
  expect(told(await invoke("fs.delete", { path: "x" }))).toEqual([403, 2001, "tool_denied"]);
  expect(told(await invoke("cmd.run", { command: "ls; rm -rf x" }))).toEqual([403, 2003, "command_not_allowed"]);
  const push = await invoke("cmd.run", { command: "git push" });
  expect(told(push)).toEqual([403, 2006, "no_matching_capability"]);
  expect(push.body.error.details.failures.map(({ code }: LooseJson) => code)).toEqual([
    "command_not_allowed",
    "subcommand_not_allowed",
    "command_not_allowed",
  ]);
  expect((await invoke("fs.write", { path: "n.md", content: "hi" })).status).toBe(200);
});

test("neither .. nor a link leads a call out of its context's paths: 2002", async () => {
  const written = await invoke("fs.read", { path: "/workspace/../etc/passwd" });
  expect(told(written)).toEqual([403, 2002, "path_not_allowed"]);
  expect(written.body.error).toMatchObject({
    name: "POLICY_VIOLATION_PATH_NOT_ALLOWED",
    details: {
      tool: "fs.read",
      violation_type: "path_traversal_attempt",
      security_context: "held",
      context_version: 1,
      capability_index: 0,
      constraint: "path_allowlist",
      attempted: "/etc/passwd",
      allowed: ["/workspace"],
    },
  });
  const linked = async () => invoke("fs.read", { path: "link/passwd" });
  await until(async () => (await linked()).body.error_code === 2002, { what: "the link" });
});

test("max_response_size 100: fs.read gives 100 bytes and says so", async () => {
  await invoke("fs.write", { path: "long.txt", content: "x".repeat(1000) });
  const { body } = await invoke("fs.read", { path: "long.txt" });
  expect([body.result.content, body.result.truncated]).toEqual(["x".repeat(100), true]);
});

test("the third call of two a minute is 429, 2005, despite a later capability *", async () => {
  const glob = () => invoke("fs.glob", { pattern: "*.md" });
  expect([(await glob()).status, (await glob()).status]).toEqual([200, 200]);
  const third = await glob();
  expect(told(third)).toEqual([429, 2005, "rate_limited"]);
  expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(third.body.error.details).toMatchObject({ limit_source: "capability", capability_index: 1 });
});

test("max_concurrent 1: of two calls at once one is 429, 2008", async () => {
  const sleep = () => invoke("cmd.run", { command: "sleep", args: ["1"] });
  const answers = (await Promise.all([sleep(), sleep()])).map(told);
  expect(answers).toContainEqual([429, 2008, "concurrency_exceeded"]);
  expect(answers.filter(([status]) => status === 200)).toHaveLength(1);
});

test("max_concurrent counts commands of the loop and signed ones together: 2008", async () => {
  const capabilities = [{ tool_pattern: "cmd.run", max_concurrent: 1 }, { tool_pattern: "fs.*" }];
  await at.node.call("POST", "/v1/security-contexts", { name: "one-command", capabilities });
  const untilThere = (file: string) =>
    ["cmd.run", { command: "sh", args: ["-c", `touch held; until [ -e ${file} ]; do sleep 0.1; done`] }] as const;
  const instance = await at.instance({
    script: [
      calls(untilThere("go")),
      { ...calls(["cmd.run", { command: "true", args: [] }]), delay_ms: 4000 },
      say("done"),
    ],
    spec: { security_context: "one-command" },
  });
  const { body } = await at.attestInside(instance, { public_key: raw.toString("base64") });
  const send = (tool: string, given: object) =>
    at.outside("/v1/seal/invoke", envelope(privateKey, body.security_token, call(tool, given)));
  await until(async () => (await send("fs.read", { path: "held" })).body.result.status === "success", {
    timeoutMs: 30_000,
    what: "the loop's command to run",
  });
  const refused = await send("cmd.run", { command: "true", args: [] });
  expect(told(refused)).toEqual([429, 2008, "concurrency_exceeded"]);
  await send("fs.write", { path: "go", content: "" });
  // With the result of the loop's command its place is free; while the model thinks, a signed one takes it.
  const [tool, given] = untilThere("never");
  const holding = (async () => {
    for (;;) {
      const answer = await send(tool, given);
      if (answer.status !== 429) return answer;
    }
  })();
  const record = await at.at.ended(instance.executionId);
  expect(record.output).toBe("done");
  const { trajectory, policy_violations } = record.iterations[0];
  expect(trajectory.map(({ status }: LooseJson) => status)).toEqual(["succeeded", "refused"]);
  expect(JSON.parse(trajectory[1].result_json)).toMatchObject({ error_code: 2008, retry_after_seconds: 1 });
  expect([policy_violations, record.usage.tool_calls]).toEqual([["cmd.run"], 1]);
  await holding;
});

test("a changed context binds a session that is open, and a deleted one refuses all", async () => {
  const list = () => invoke("fs.write", { path: "m.md", content: "" });
  expect((await list()).status).toBe(200);
  const changed = { ...context, deny_list: ["fs.*"] };
  await at.node.call("PUT", "/v1/security-contexts/held", changed);
  await until(async () => (await list()).body.error_code === 2001, { what: "the change" });
  expect((await list()).body.error.details.context_version).toBe(2);
  expect((await onPaper("fs.write", { path: "m.md" })).error_code).toBe(2001);
  await at.node.call("DELETE", "/v1/security-contexts/held?force=true");
  await until(async () => (await list()).body.error_code === 2000, { what: "the deletion" });
});
