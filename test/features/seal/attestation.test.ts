/** Attestations and sessions of a whole node (docs/reference/seal.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { until } from "../../harness/until.ts";
import { parseAnswer, rawRequest } from "../../http/raw.ts";
import { agentKey, call, digest, envelope, type Headers, type Instance, SealFixture, told } from "./fixture.ts";

let at: SealFixture;
let instance: Instance;
let operator: Headers;
beforeAll(async () => {
  at = await SealFixture.open();
  instance = await at.instance();
  operator = { Authorization: `Bearer ${await at.node.token()}` };
});
afterAll(() => at?.close());

const { privateKey, raw } = agentKey();
const publicKey = raw.toString("base64");
const attest = (body: object, headers: Headers = operator) => at.outside("/v1/seal/attest", body, headers);

test("an attestation gives a token that the key set verifies, and a session", async () => {
  const { executionId, agentId } = instance;
  const { status, body } = await attest({
    agent_public_key: publicKey,
    agent_id: agentId,
    execution_id: executionId,
    security_context: "svc-agent-runtime",
    task_summary: "ü".repeat(200),
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: "success",
    protocol: "seal/v1",
    execution_id: executionId,
    agent_id: agentId,
    tenant_id: "svc-system",
    security_context: "svc-agent-runtime",
  });
  const keys = await fetch(`${at.node.url}/.well-known/jwks.json`);
  expect(keys.headers.get("cache-control")).toContain("max-age=300");
  const set = createLocalJWKSet(await keys.json());
  const { payload, protectedHeader } = await jwtVerify(body.security_token, set, {
    issuer: "svc-orchestrator",
    audience: "svc-agents",
  });
  expect(protectedHeader).toMatchObject({ typ: "JWT", alg: "EdDSA" });
  expect(payload).toMatchObject({
    ...{ jti: body.session_id, sub: agentId, exec_id: executionId, tenant_id: "svc-system" },
    ...{ scp: "svc-agent-runtime", wid: executionId, task_summary: "ü".repeat(128) },
  });
  const { body: session } = await at.node.call("GET", `/v1/seal/sessions/${body.session_id}`);
  expect(session).toMatchObject({
    ...{ session_id: body.session_id, status: "active", session_status: "active", detached: false, calls: 0 },
    public_key_fingerprint: digest(raw),
  });
  expect(JSON.stringify(session).includes(body.security_token)).toBe(false);
  // Execution tokens are signed with keys of the same set.
  await jwtVerify(instance.token, set, { audience: "svc-internal" });
});

test("a sandbox attests by its token, as a bearer or in the path, and names itself", async () => {
  const asked = { public_key: publicKey, workload_id: "my-program", security_context: "" };
  const bearer = await at.attestInside(instance, { ...asked, container_id: "sandbox" });
  expect(bearer.body).toMatchObject({ status: "success", execution_id: instance.executionId });
  const inPath = await at.inside(`/x/${instance.token}/v1/seal/attest`, asked);
  expect(inPath.status).toBe(200);
  const { body } = await at.node.call("GET", `/v1/seal/sessions/${inPath.body.session_id}`);
  expect(body).toMatchObject({ instance_id: instance.instanceId, workload_id: "my-program", container_id: null });
  const other = await at.attestInside(instance, { ...asked, container_id: "0123456789ab" });
  expect(told(other)).toEqual([401, 3000, "workload_not_verified"]);
  const cut = await at.attestInside(instance, { ...asked, container_id: instance.instanceId.slice(0, 13) });
  expect(cut.status).toBe(200);
  expect(told(await at.attestInside(instance, { ...asked, container_id: instance.instanceId.slice(0, 11) }))).toEqual([
    401,
    3000,
    "workload_not_verified",
  ]);
  // A label that names the sandbox counts as the container's id; any other proves nothing.
  const named = instance.instanceId.replaceAll("-", "").slice(0, 12).toUpperCase();
  const labelled = await at.attestInside(instance, { ...asked, workload_id: named });
  expect(decodeJwt(labelled.body.security_token).wid).toBe(named);
  const shown = await at.node.call("GET", `/v1/seal/sessions/${labelled.body.session_id}`);
  expect(shown.body).toMatchObject({ container_id: named, workload_id: named });
  expect(at.node.output.includes(instance.token)).toBe(false);
});

test("a key may be written in every form; 31 bytes are no key", async () => {
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw]).toString("base64");
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----\n`;
  for (const key of [publicKey, raw.toString("base64url"), spki, pem]) {
    for (const name of ["agent_public_key", "public_key", "public_key_pem"]) {
      const { status, body } = await attest({ [name]: key });
      // An attestation of a minute too many is one that was understood.
      expect([200, 429].includes(status) || body).toBe(true);
    }
  }
  const short = await attest({ public_key: raw.subarray(0, 31).toString("base64") });
  expect(told(short)).toEqual([422, 3002, "invalid_public_key"]);
});

test.each<[string, (own: Instance) => object, readonly unknown[]]>([
  [
    "an execution without its agent",
    ({ executionId }) => ({ execution_id: executionId }),
    [400, 3002, "malformed_body"],
  ],
  ["an id that is none", () => ({ execution_id: "x", agent_id: "y" }), [400, 3002, "malformed_body"]],
  [
    "an unknown execution",
    ({ agentId }) => ({ execution_id: crypto.randomUUID(), agent_id: agentId }),
    [404, 3002, "execution_not_found"],
  ],
  [
    "another agent's id",
    ({ executionId }) => ({ execution_id: executionId, agent_id: crypto.randomUUID() }),
    [403, 3002, "agent_mismatch"],
  ],
  ["another tenant", () => ({ tenant_id: "acme" }), [403, 3002, "tenant_mismatch"]],
  ["a context that is none", () => ({ security_context: "nowhere" }), [404, 3001, "security_context_not_found"]],
  [
    "another context than the execution's",
    ({ executionId, agentId }) => ({
      ...{ execution_id: executionId, agent_id: agentId },
      security_context: "svc-system-operator",
    }),
    [403, 3001, "security_context_forbidden"],
  ],
  ["a number for a key", () => ({ public_key: 7 }), [422, 3002, "validation_failed"]],
])("an attestation with %s is refused in the shape of signed calls", async (_what, body, refusal) => {
  const answer = await attest({ agent_public_key: publicKey, ...body(instance) });
  expect(told(answer)).toEqual(refusal);
  expect(answer.body).toMatchObject({ protocol: "seal/v1", status: "error", error: { code: refusal[1] } });
  expect(answer.body.request_id).toBe(answer.headers.get("x-request-id"));
});

test("refusals of other steps have the same shape: identity, JSON, method", async () => {
  expect(told(await attest({ public_key: publicKey }, {}))).toEqual([401, 3002, "missing_authorization"]);
  expect(told(await attest({ public_key: publicKey }, { Authorization: "Bearer x.y.z" }))).toEqual([
    401,
    3002,
    "invalid_token",
  ]);
  expect(told(await at.outside("/v1/seal/attest", "{", operator))).toEqual([400, 3002, "malformed_body"]);
  expect(told(await at.outside("/v1/seal/attest", "{}", { ...operator, "Content-Type": "text/plain" }))).toEqual([
    415,
    3002,
    "unsupported_media_type",
  ]);
  const get = await fetch(`${at.node.url}/v1/seal/attest`, { headers: operator });
  expect([get.status, (await get.json()).error.code]).toEqual([405, 3002]);
  const inside = await at.inside("/v1/seal/attest", { public_key: publicKey });
  expect(told(inside)).toEqual([401, 3002, "missing_authorization"]);
});

test("what is refused before it is routed has the shape as well, under any Host", async () => {
  const paths: readonly [string, number][] = [
    ["/v1/seal/attest", 3002],
    ["/v1/seal/invoke?a=b", 1000],
    ["/v1/invoke/", 1000],
    [`/x/${instance.token}/v1/seal/attest`, 3002],
    [`/x/${instance.token}/v1/invoke`, 1000],
  ];
  for (const [path, number] of paths) {
    for (const host of ["a b", "evil.example/v1", "[::1", ""]) {
      for (const port of [at.node.port, Number(new URL(at.node.internalUrl).port)]) {
        const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
        const { status, body } = parseAnswer(await rawRequest(port, [head]));
        expect([path, host, status >= 400, body.protocol, body.error_code]).toEqual([
          path,
          host,
          true,
          "seal/v1",
          number,
        ]);
      }
    }
  }
  expect(at.node.output.includes(instance.token)).toBe(false);
});

test("a member may not attest for the owner's execution, a foreign one is unknown", async () => {
  const user = async (username: string, fields: Headers = {}): Promise<Headers> => ({
    Authorization: `Bearer ${await at.node.token({ username, ...fields }, "tenant-acme")}`,
  });
  const ann = await user("ann");
  await at.node.call("GET", "/v1/agents", undefined, ann);
  const bob = await user("bob", { role: "tenant:member" });
  await at.node.call("GET", "/v1/agents", undefined, bob);
  const own = await at.instance({}, ann);
  const asked = { public_key: publicKey, execution_id: own.executionId, agent_id: own.agentId };
  expect((await attest(asked, ann)).status).toBe(200);
  expect(told(await attest(asked, bob))).toEqual([403, 3002, "execution_not_yours"]);
  expect(told(await attest(asked))).toEqual([404, 3002, "execution_not_found"]);
  const { body } = await at.node.call("POST", "/v1/seal/sessions", { execution_id: own.executionId }, bob);
  expect(body.code).toBe("insufficient_scope");
});

test("sessions end with their instance within a second, and by their owner", async () => {
  const own = await at.instance();
  const { body } = await at.attestInside(own, { public_key: publicKey });
  const opened = await at.node.call("POST", "/v1/seal/sessions", {
    execution_id: own.executionId,
    public_key_b64: raw.toString("hex"),
    allowed_tool_patterns: ["fs.*"],
  });
  expect([opened.status, opened.body.session_status]).toEqual([201, "active"]);
  const revoked = await at.node.call("DELETE", `/v1/seal/sessions/${opened.body.session_id}`, { reason: "done" });
  expect(revoked.body).toMatchObject({
    ...{ status: "success", execution_id: own.executionId, session_status: "revoked" },
    session_ids: [opened.body.session_id],
  });
  expect((await at.node.call("DELETE", `/v1/seal/sessions/${opened.body.session_id}`)).body).toEqual(revoked.body);
  await at.node.call("POST", `/v1/executions/${own.executionId}/cancel`, {});
  const session = await until(
    async () => {
      const found = (await at.node.call("GET", `/v1/seal/sessions/${body.session_id}`)).body;
      return found.status === "revoked" ? found : null;
    },
    { what: "the session to end with its execution" },
  );
  expect(session.revoked_reason).toMatch(/^(execution|instance)_ended$/);
  const late = await at.attestInside(own, { public_key: publicKey });
  expect([401, 409]).toContain(late.status);
  const asked = { public_key: publicKey, execution_id: own.executionId, agent_id: own.agentId };
  expect(told(await attest(asked))).toEqual([409, 3002, "execution_not_running"]);
  const list = await at.node.call("GET", `/v1/seal/sessions?execution_id=${own.executionId}&status=revoked`);
  expect(list.body.sessions.length).toBe(list.body.count);
  expect(list.body.count).toBeGreaterThanOrEqual(2);
  expect((await at.node.call("GET", `/v1/seal/sessions/${crypto.randomUUID()}`)).body.code).toBe("session_not_found");
});

test("a former instance's token opens nothing", async () => {
  const former = { ...instance, instanceId: crypto.randomUUID() };
  const token = await at.tokenOf(former);
  expect(told(await at.attestInside({ ...former, token }, { public_key: publicKey }))).toEqual([
    401,
    3002,
    "invalid_token",
  ]);
  const bearer = { Authorization: `Bearer ${token}` };
  const { internalUrl } = at.node;
  const message = { type: "dispatch_result", execution_id: former.executionId, dispatch_id: former.instanceId };
  const answers = await Promise.all([
    fetch(`${internalUrl}/v1/seal/tools`, { headers: bearer }),
    fetch(`${internalUrl}/x/${token}/v1/seal/tools`),
    at.inside("/v1/dispatch-gateway", { ...message, exit_code: 0 }, bearer),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
});

const sessionsOf = async ({ executionId }: Instance) =>
  (await at.node.call("GET", `/v1/seal/sessions?execution_id=${executionId}`)).body.items as { instance_id: string }[];

test("an execution whose bootstrap runs has a session of its instance", async () => {
  const own = await at.instance();
  const [session] = await until(
    async () => {
      const found = await sessionsOf(own);
      return found.length > 0 ? found : null;
    },
    { what: "the bootstrap's session" },
  );
  expect(session).toMatchObject({ status: "active", instance_id: own.instanceId, detached: false });
});

test("a session ends with its instance, though its execution begins again", async () => {
  const own = await at.instance();
  const { session_id, security_token } = (await at.attestInside(own, { public_key: publicKey })).body;
  const send = () => at.outside("/v1/seal/invoke", envelope(privateKey, security_token, call("fs.list")));
  expect((await send()).status).toBe(200);
  const supervisor = join(at.node.dataDir, "instances", own.instanceId, "supervisor.json");
  process.kill((await Bun.file(supervisor).json()).pid, "SIGKILL");
  const refused = await until(
    async () => {
      const answer = await send();
      return answer.body.error_code === 1006 ? answer : null;
    },
    { what: "its calls to be refused" },
  );
  expect(told(refused)).toEqual([401, 1006, "session_inactive"]);
  const { body } = await at.node.call("GET", `/v1/seal/sessions/${session_id}`);
  expect(body).toMatchObject({ status: "revoked", revoked_reason: "instance_ended" });
  expect((await at.node.call("GET", `/v1/executions/${own.executionId}`)).body.status).toBe("running");
});

test("a sixth session ends the oldest; after thirty in a minute there are no more", async () => {
  const own = await at.instance();
  const ids: string[] = [];
  await until(async () => (await sessionsOf(own)).length > 0, { what: "the bootstrap's own session" });
  // The bootstrap has made one of the thirty.
  for (let made = 0; made < 29; made++)
    ids.push((await at.attestInside(own, { public_key: publicKey })).body.session_id);
  const { body } = await at.node.call("GET", `/v1/seal/sessions?execution_id=${own.executionId}&status=active`);
  expect(new Set(body.items.map((one: { session_id: string }) => one.session_id))).toEqual(new Set(ids.slice(-5)));
  const many = await at.attestInside(own, { public_key: publicKey });
  expect(told(many)).toEqual([429, 3002, "rate_limited"]);
  expect(Number(many.headers.get("retry-after"))).toBeGreaterThan(0);
});
