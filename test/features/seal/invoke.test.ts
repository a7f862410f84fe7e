/** Signed calls of a whole node (docs/reference/seal.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { until } from "../../harness/until.ts";
import { agentKey, call, envelope, type Headers, type Instance, SealFixture, told } from "./fixture.ts";

let at: SealFixture;
let instance: Instance;
const { privateKey, raw } = agentKey();
const publicKey = raw.toString("base64");
beforeAll(async () => {
  at = await SealFixture.open();
  instance = await at.instance();
});
afterAll(() => at?.close());

let shared: string | null = null;
/** A session of the instance; there are thirty attestations in a minute, so most tests share one. */
async function opened(isOwn = false): Promise<string> {
  if (!isOwn && shared !== null) return shared;
  const { body } = await at.attestInside(instance, { public_key: publicKey });
  shared ??= body.security_token as string;
  return body.security_token;
}
const invoke = (text: string, headers: Headers = {}, path = "/v1/seal/invoke") => at.outside(path, text, headers);

test("one kind of envelope passes on both paths and listeners, with either time", async () => {
  const token = await opened();
  for (const path of ["/v1/seal/invoke", "/v1/invoke"]) {
    for (const time of [undefined, String(Math.floor(Date.now() / 1000))]) {
      const text = () => envelope(privateKey, token, call("fs.list", { path: "/workspace" }), time);
      const { status, body } = await invoke(text(), {}, path);
      expect([status, body.result?.status ?? body]).toEqual([200, "success"]);
      expect(body.payload.result).toEqual(body.result);
      expect("error" in body.payload).toBe(false);
      expect(told(await at.inside(path, text()))).toEqual([200, undefined, undefined]);
      expect((await at.inside(`/x/${instance.token}${path}`, text())).status).toBe(200);
    }
  }
});

test("ping, the list of tools, and a method that is a tool", async () => {
  const token = await opened();
  const send = (method: string, params?: object) =>
    invoke(envelope(privateKey, token, JSON.stringify({ jsonrpc: "2.0", id: 9, method, params })));
  expect((await send("ping")).body.result).toEqual({});
  const { tools } = (await send("tools/list")).body.result;
  expect(tools.map((tool: { name: string }) => tool.name)).toContain("fs.read");
  const written = await send("fs.write", { path: "/workspace/n.md", content: "hi\n" });
  expect(written.body.result).toMatchObject({ status: "success", bytes_written: 3 });
  const read = await send("fs.read", { path: "n.md" });
  expect(read.body).toMatchObject({ id: 9, result: { status: "success", content: "hi\n" } });
  const missing = await send("fs.read", { path: "/workspace/none" });
  expect([missing.status, missing.body.result]).toMatchObject([
    200,
    { status: "error", isError: true, tool: "fs.read", code: "not_found" },
  ]);
  const twice = { path: "n.md", target_content: "h", replacement_content: "x" };
  await send("fs.write", { path: "n.md", content: "h h" });
  expect((await send("fs.edit", twice)).body.result).toMatchObject({ isError: true, code: "multiple_matches" });
  expect((await send("fs.read", { path: "/workspace/n.md" })).body.result.content).toBe("h h");
});

test("the same envelope twice is a replay, to another node and after a restart too", async () => {
  const token = await opened();
  const text = envelope(privateKey, token, call("fs.write", { path: "once.txt", content: "x", mode: "append" }));
  expect((await invoke(text)).status).toBe(200);
  expect(told(await invoke(text))).toEqual([401, 1007, "replay_detected"]);
  // Another spelling of the same signature.
  const parsed = JSON.parse(text);
  const url = { ...parsed, signature: Buffer.from(parsed.signature, "base64").toString("base64url") };
  expect(told(await invoke(JSON.stringify(url)))).toEqual([401, 1007, "replay_detected"]);
  const read = await invoke(envelope(privateKey, token, call("fs.read", { path: "once.txt" })));
  expect(read.body.result.content).toBe("x");
});

test("many copies of one envelope at once run the tool once", async () => {
  const token = await opened();
  const text = envelope(privateKey, token, call("fs.write", { path: "many.txt", content: "x", mode: "append" }));
  const answers = await Promise.all(Array.from({ length: 20 }, () => invoke(text)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ body }) => body.code === "replay_detected")).toHaveLength(19);
});

test("a changed argument, time, token or order is told from what was signed", async () => {
  const token = await opened();
  const text = envelope(privateKey, token, call("fs.list", { path: "/workspace" }));
  expect(told(await invoke(text.replace("/workspace", "/workspac")))).toEqual([401, 1001, "invalid_signature"]);
  const later = JSON.stringify(new Date(Date.now() + 2000).toISOString());
  const moved = `${text.slice(0, text.lastIndexOf('"timestamp":'))}"timestamp":${later}}`;
  expect(told(await invoke(moved))).toEqual([401, 1001, "invalid_signature"]);
  const broken = token.replace(/.(?=.{20}$)/, (letter) => (letter === "A" ? "B" : "A"));
  expect(told(await invoke(envelope(privateKey, broken, call("fs.list"))))).toEqual([401, 1004, "invalid_token"]);
  const turned = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse()), null, 1);
  expect((await invoke(turned)).status).toBe(200);
});

test("a time 31 s off is refused, one 25 s off is taken", async () => {
  const token = await opened();
  const at31 = (sign: number) => String(Math.floor(Date.now() / 1000) + sign * 33);
  for (const sign of [-1, 1]) {
    const refused = await invoke(envelope(privateKey, token, call("ping"), at31(sign)));
    expect(told(refused)).toEqual([401, 1003, "timestamp_out_of_window"]);
    const near = String(Math.floor(Date.now() / 1000) + sign * 25);
    expect((await invoke(envelope(privateKey, token, call("fs.list"), near))).status).toBe(200);
  }
});

test.each<[string, (text: string) => string | Uint8Array, Headers, readonly unknown[]]>([
  ["no JSON", () => "{", {}, [400, 1000, "malformed_envelope"]],
  ["a member twice", (text) => text.replace("{", '{"payload":{},'), {}, [400, 1000, "malformed_envelope"]],
  ["half a pair", (text) => text.replace("/workspace", "\\ud800"), {}, [400, 1000, "malformed_envelope"]],
  ["cut short", (text) => text.slice(0, -1), {}, [400, 1000, "malformed_envelope"]],
  ["extended", (text) => `${text}{}`, {}, [400, 1000, "malformed_envelope"]],
  [
    "a time with a fraction",
    (text) => text.replace(/"timestamp":.*\}$/, '"timestamp":1767323045.5}'),
    {},
    [400, 1000, "malformed_envelope"],
  ],
  ["another type", (text) => text, { "Content-Type": "text/plain" }, [415, 1000, "unsupported_media_type"]],
  ["5 MiB", () => " ".repeat(5 * 1024 * 1024), {}, [413, 1000, "body_too_large"]],
])("an envelope that is none is refused in its own shape: %s", async (_what, change, headers, refusal) => {
  const text = envelope(privateKey, "t", call("fs.list", { path: "/workspace" }));
  const answer = await at.outside("/v1/seal/invoke", change(text), headers);
  expect(told(answer)).toEqual(refusal);
  expect(answer.body).toMatchObject({ protocol: "seal/v1", status: "error", error: { code: 1000 } });
});

test.each<[string, unknown, readonly unknown[]]>([
  ["a batch", [], [400, 1000, "malformed_envelope"]],
  ["a notification", { jsonrpc: "2.0", method: "ping" }, [400, -32600, "invalid_rpc_request"]],
  ["another version", { jsonrpc: "1.0", id: 1, method: "ping" }, [400, -32600, "invalid_rpc_request"]],
  ["an unknown tool", { jsonrpc: "2.0", id: 1, method: "nosuch.tool" }, [404, -32601, "unknown_tool"]],
  [
    "wrong arguments",
    { jsonrpc: "2.0", id: 1, method: "fs.read", params: { path: 7 } },
    [422, -32602, "invalid_arguments"],
  ],
  ["a denied tool", { jsonrpc: "2.0", id: 1, method: "svc.system.info" }, [403, 2001, "tool_denied"]],
])("a payload that is no call: %s", async (_what, payload, refusal) => {
  const answer = await invoke(envelope(privateKey, await opened(), JSON.stringify(payload)));
  expect(told(answer)).toEqual(refusal);
});

test("numbers that no tool can be given exactly fail the call", async () => {
  const payload = '{"jsonrpc":"2.0","id":1,"method":"fs.read","params":{"path":"n","offset":9007199254740993}}';
  const answer = await invoke(envelope(privateKey, await opened(), payload));
  expect(told(answer)).toEqual([422, -32602, "number_not_representable"]);
});

test("under one Idempotency-Key a session gets the first result again", async () => {
  const token = await opened();
  const send = (content: string, key: string) =>
    invoke(envelope(privateKey, token, call("fs.write", { path: "key.txt", content, mode: "append" })), {
      "Idempotency-Key": key,
    });
  const first = await send("a", "k1");
  expect([first.status, (await send("a", "k1")).body.result]).toEqual([200, first.body.result]);
  const read = await invoke(envelope(privateKey, token, call("fs.read", { path: "key.txt" })));
  expect(read.body.result.content).toBe("a");
  expect(told(await send("b", "k1"))).toEqual([422, -32602, "idempotency_key_reused"]);
});

test("the record of a signed call says by which rules it was judged, and ends", async () => {
  const own = await at.instance();
  const { body } = await at.attestInside(own, { public_key: publicKey });
  const send = (payload: string, headers: Headers = {}) =>
    invoke(envelope(privateKey, body.security_token, payload), headers);
  const key = { "Idempotency-Key": "on-record" };
  await send(call("fs.list", { path: "/workspace" }), key);
  await send(call("fs.list", { path: "/workspace" }), key);
  await send(call("fs.list", { path: "/workspace/other" }), key);
  await send(call("aegis.system.info"));
  await send('{"jsonrpc":"2.0","id":1,"method":"fs.read","params":{"path":"n","offset":9007199254740993}}');
  const records = await until(
    async () => {
      const path = `/v1/tool-invocations?execution_id=${own.executionId}&limit=100`;
      const items: LooseJson[] = (await at.node.call("GET", path)).body.items;
      const signed = items.filter(({ entry, tool_name }) => entry === "seal" && tool_name !== null).reverse();
      return signed.every(({ outcome }) => outcome !== "running") ? signed : null;
    },
    { what: "every record to end" },
  );
  const ruled = { security_context: "svc-agent-runtime", context_version: 1 };
  expect(records).toMatchObject([
    { tool_name: "fs.list", decision: "allow", outcome: "success", ...ruled, capability_index: 0 },
    { tool_name: "fs.list", outcome: "failed", code: "idempotency_key_reused" },
    { tool_name: "svc.system.info", decision: "deny", outcome: "failed", code: "tool_denied", ...ruled },
    { tool_name: "fs.read", outcome: "failed", code: "number_not_representable" },
  ]);
});

test("of 200 tool calls at once in a session some 100 pass, the rest may come again", async () => {
  const token = await opened(true);
  const texts = Array.from({ length: 200 }, () => envelope(privateKey, token, call("fs.list", { path: "/workspace" })));
  const begun = Date.now();
  const answers = await Promise.all(texts.map((text) => invoke(text)));
  // Twenty come back each second, so the more the longer the others are on their way.
  const cameBack = Math.ceil((20 * (Date.now() - begun)) / 1000);
  expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  // Beyond as many as may run at once a call that passed is 2008.
  const refused = answers.flatMap(({ body }, at) =>
    body.error_code === 2005 ? [{ body, text: texts[at] ?? "" }] : [],
  );
  expect(texts.length - refused.length).toBeWithin(100, 100 + cameBack + 1);
  for (const { body } of refused) expect(body.error.details.limit_source).toBe("session");
  // The same envelope may be sent again; a machine that takes seconds for them may have refused none.
  for (const { text } of refused.slice(0, 1)) {
    const again = async () => {
      const answer = await invoke(text);
      return answer.status === 429 ? null : answer;
    };
    expect((await until(again, { what: "a place for one of them" })).status).toBe(200);
  }
});

test("a revoked session, and one whose execution has ended, call nothing", async () => {
  const own = await at.instance();
  const { body } = await at.attestInside(own, { public_key: publicKey });
  const send = () => invoke(envelope(privateKey, body.security_token, call("fs.list", { path: "/workspace" })));
  expect((await send()).status).toBe(200);
  await at.node.call("DELETE", `/v1/seal/sessions/${body.session_id}`);
  expect(told(await send())).toEqual([401, 1006, "session_inactive"]);
  const second = (await at.attestInside(own, { public_key: publicKey })).body.security_token;
  const other = () => invoke(envelope(privateKey, second, call("fs.list", { path: "/workspace" })));
  expect((await other()).status).toBe(200);
  await at.node.call("POST", `/v1/executions/${own.executionId}/cancel`, {});
  const { status, body: over } = await other();
  expect([status, over.error_code]).toEqual([401, 1006]);
});

test("a token signed for another session's key opens nothing", async () => {
  const token = await opened();
  const answer = await invoke(envelope(agentKey().privateKey, token, call("fs.list")));
  expect(told(answer)).toEqual([401, 1001, "invalid_signature"]);
});

test("the tools of a sandbox are listed with the addresses that it reaches", async () => {
  const listing = async (url: string, headers: Headers = {}) => (await fetch(url, { headers })).json();
  const prefix = `${at.node.internalUrl}/x/${instance.token}`;
  const own = await listing(`${prefix}/v1/seal/tools`);
  expect(own).toMatchObject({
    ...{ protocol: "seal/v1", security_context: "svc-agent-runtime" },
    attestation_endpoint: `${prefix}/v1/seal/attest`,
    invoke_endpoint: `${prefix}/v1/seal/invoke`,
  });
  const names = own.tools.map((tool: { name: string }) => tool.name);
  expect(names).toContain("fs.read");
  expect(names).not.toContain("svc.system.info");
  const operator = { Authorization: `Bearer ${await at.node.token()}` };
  const all = await listing(`${at.node.url}/v1/seal/tools?q=fs.read&source=builtin`, operator);
  expect(all).toMatchObject({ security_context: null, count: 1, tools: [{ name: "fs.read", executor: "sandbox" }] });
  const unknown = await listing(`${at.node.url}/v1/seal/tools?security_context=nowhere`, operator);
  expect(unknown.code).toBe("security_context_not_found");
  const page = await listing(`${at.node.url}/v1/seal/tools?limit=2`, operator);
  const next = await listing(`${at.node.url}/v1/seal/tools?limit=2&cursor=${page.next_cursor}`, operator);
  expect(next.items[0].name > page.items[1].name).toBe(true);
});
