/** Every example of a body in the API document, sent to a node that has what it speaks of: none is refused for its shape. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { OpenApiDocument } from "../../src/http/openapi/openapi.ts";
import { manifest, say } from "../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

type Headers = Readonly<Record<string, string>>;

let stores: TestStores;
let node: NodeProcess;
let whole: OpenApiDocument;
const made: Record<string, string> = {};
let person: Headers = {};
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores);
  whole = (await (await fetch(`${node.url}/openapi.json`)).json()) as OpenApiDocument;
  await prepare();
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const review = (name: string, version: string) => ({
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name, version },
  spec: {
    initial_state: "REVIEW",
    schedules: [{ name: "weekly", cron: "0 6 * * 1" }],
    states: {
      REVIEW: {
        kind: "Human",
        prompt: "Is it right?",
        timeout_seconds: 3600,
        transitions: [{ condition: "always", target: "DONE" }],
      },
      DONE: { kind: "System", command: "true", transitions: [] },
    },
  },
});

/** What the examples speak of, by the names that they use. */
async function prepare(): Promise<void> {
  const create = async (path: string, body: unknown, headers: Headers = {}) => {
    const { status, body: answered } = await node.call("POST", path, body, headers);
    if (status > 299) throw new Error(`${path}: ${status} ${JSON.stringify(answered)}`);
    return answered;
  };
  await create("/v1/admin/tenants", { slug: "fixture", display_name: "Fixture", tier: "business" });
  await create("/v1/security-contexts", { name: "fixture", capabilities: [{ tool_pattern: "fs.*" }] });
  for (const version of ["1.0.0", "2.0.0"]) {
    const agent = manifest({ name: "fixture", version, script: [say("done")], execution: { mode: "one-shot" } });
    made.agent = (await create("/v1/agents", agent)).agent_id;
  }
  await create("/v1/agents", manifest({ name: "router" }));
  await create("/v1/workflows", review("on-push", "1.0.0"));
  for (const version of ["1.0.0", "1.1.0"]) await create("/v1/workflows", review("release-notes", version));
  for (const run of ["approve", "reject", "link", "signal", "cancel", "retry"]) {
    made[run] = (await create("/v1/workflows/release-notes/run?version=1.0.0", {})).execution_id;
  }
  await create(`/v1/workflows/executions/${made.retry}/cancel`, {});
  const approvals = await until(async () => {
    const { items } = (await node.call("GET", "/v1/human-approvals")).body;
    return items.length >= 5 ? (items as { id: string; execution_id: string }[]) : null;
  });
  for (const run of ["approve", "reject", "link"]) {
    made[`approval-${run}`] = approvals.find(({ execution_id }) => execution_id === made[run])?.id ?? "";
  }
  const link = await create(`/v1/human-approvals/${made["approval-link"]}/links`, { recipient: "ann@example.test" });
  made.token = new URL(link.url).pathname.split("/").at(-1) ?? "";
  made.schedule = (await node.call("GET", "/v1/workflows/on-push/schedules")).body.items[0].id;
  made.execution = (
    await create("/v1/executions", { agent_id: made.agent, input: "go", wait_seconds: 20 })
  ).execution_id;
  made.volume = (await create("/v1/volumes", { label: "fixture" })).id;
  await create(`/v1/volumes/${made.volume}/files/upload?path=/draft.md`, "A draft", { "Content-Type": "text/plain" });
  made.key = (await create("/v1/api-keys", { name: "fixture", scopes: ["read"] })).id;
  made.group = (await create("/v1/edge/groups", { name: "fixture", selector: {} })).id;
  const source = { source: "fixture", workflow: "on-push", signature: "github", generate_secret: true };
  made.source = (await create("/v1/stimulus-routes", source)).id;
  made.stimulus = (await create("/v1/stimuli", { source: "fixture", content: "x" })).stimulus_id;
  made.credential = (await create("/v1/credentials/api-keys", { provider: "crm", value: "k", scope: "tenant" })).id;
  await create("/v1/tool-servers", {
    name: "fixture",
    transport: "streamable_http",
    url: "https://t.example/mcp",
    enabled: false,
  });
  const fields = { username: "ann", sub: "ann", email: "ann@example.test", tier: "enterprise" };
  person = { Authorization: `Bearer ${await node.token(fields, "svc-consumer")}` };
  made.team = (await create("/v1/teams", { display_name: "Fixture", tier: "enterprise" }, person)).id;
}

const nowhere = "0190f3c4-6d1e-7a55-9c1f-2f6d0c5b8e11";

/** What stands for the parameters of an operation's path: the first that fits. */
const places: readonly (readonly [RegExp, () => Readonly<Record<string, string | undefined>>])[] = [
  [/tenants\/\{slug\}/, () => ({ slug: "fixture" })],
  [/security-contexts\/\{name\}/, () => ({ name: "fixture" })],
  [/tool-servers\/\{name\}/, () => ({ name: "fixture" })],
  [/v1\/agents\/\{id\}/, () => ({ id: made.agent })],
  [/v1\/volumes\/\{id\}/, () => ({ id: made.volume })],
  [/human-approvals\/\{id\}\/approve/, () => ({ id: made["approval-approve"] })],
  [/human-approvals\/\{id\}\/reject/, () => ({ id: made["approval-reject"] })],
  [/human-approvals\/\{id\}\/links/, () => ({ id: made["approval-link"] })],
  [/workflows\/executions\/\{id\}\/(fork|retry)/, () => ({ id: made.retry })],
  [/workflows\/executions\/\{id\}\/signal/, () => ({ id: made.signal })],
  [/workflows\/executions\/\{id\}\/cancel/, () => ({ id: made.cancel })],
  [/v1\/executions\/\{id\}/, () => ({ id: made.execution })],
  [/api-keys\/\{id\}/, () => ({ id: made.key })],
  [/edge\/groups\/\{id\}/, () => ({ id: made.group })],
  [/stimulus-routes\/\{id\}/, () => ({ id: made.source })],
  [/stimuli\/\{id\}/, () => ({ id: made.stimulus })],
  [/credentials\/\{id\}/, () => ({ id: made.credential })],
  [/workflows\/\{ref\}\/schedules/, () => ({ ref: "on-push", id: made.schedule })],
  [/workflows\/\{ref\}/, () => ({ ref: "release-notes" })],
  [/approval-links/, () => ({ token: made.token })],
  [/webhooks\/\{source\}/, () => ({ source: "fixture", route_id: made.source })],
  [/realms\/\{realm\}/, () => ({ realm: "svc-system" })],
  [/secrets\/\{path\}/, () => ({ path: "ops/tickets" })],
];

/** Where more is needed than a node has in development: what the example is refused for, and its shape is not. */
const elsewhere: Readonly<Record<string, string>> = {
  "/v1/executions/{id}/cancel": "execution_already_terminal",
  "/v1/colony/members/{id}": "not_found",
  "/v1/colony/roles": "not_found",
  "/v1/colony/invitations/accept": "invalid_invitation",
  "/v1/people": "issuer_not_configured",
  "/v1/people/{id}": "issuer_not_configured",
  "/v1/people/{id}/reset": "issuer_not_configured",
  "/v1/approval-links/{token}": "approver_not_allowed",
  "/v1/seal/sessions": "execution_not_running",
  "/v1/seal/sessions/{id}": "session_not_found",
  "/v1/seal/invoke": "invalid_token",
  "/v1/invoke": "invalid_token",
  "/v1/edge/hosts/{id}": "host_not_found",
  "/v1/edge/hosts/{id}/tags": "host_not_found",
  "/v1/edge/fleet/{id}/retry": "fleet_run_not_found",
  "/v1/edge/fleet/runs/{id}/retry": "fleet_run_not_found",
  "/v1/edge/fleet/{id}/cancel": "fleet_run_not_found",
  "/v1/edge/fleet/runs/{id}/cancel": "fleet_run_not_found",
  "/v1/workflows/executions/{id}/items/{index}/retry": "workflow_execution_not_found",
  "/v1/workflows/executions/{id}/items/{index}/cancel": "workflow_execution_not_found",
  "/v1/webhooks/{source}": "missing_signature",
  "/v1/webhooks/{source}/{route_id}": "missing_signature",
  "/v1/stimuli/{id}/discard": "not_a_dead_letter",
  "/v1/credentials/oauth/initiate": "provider_not_configured",
  "/v1/credentials/oauth/callback": "invalid_state",
  "/v1/credentials/oauth/device/initiate": "oauth_not_configured",
  "/v1/credentials/oauth/device/poll": "oauth_not_configured",
  "/v1/credentials/device/initiate": "oauth_not_configured",
  "/v1/credentials/device/poll": "oauth_not_configured",
  "/v1/billing/checkout": "billing_not_configured",
  "/v1/billing/portal": "billing_not_configured",
  "/v1/billing/seats": "billing_not_configured",
  "/v1/billing/preview-tier-change": "billing_not_configured",
  "/v1/billing/change-tier": "billing_not_configured",
  "/v1/webhooks/stripe": "webhook_not_configured",
  "/v1/edge/daemon/enroll": "invalid_enrollment_token",
  "/v1/edge/daemon/rotate-key": "invalid_proof",
};

interface Example {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly example: unknown;
}

const examples = (): Example[] =>
  Object.entries(whole.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      Object.entries(requestBody?.content ?? {}).map(([type, { example }]) => ({ method, path, type, example })),
    ),
  );

/** As it stands, but for ids that are each installation's own. */
function bodyOf({ path, type, example }: Example): string {
  if (typeof example === "string") return example;
  if (type.includes("form")) return new URLSearchParams(example as Record<string, string>).toString();
  const own = { agent_id: made.agent, execution_id: made.execution };
  const written = { ...(example as Record<string, unknown>) };
  if (!path.startsWith("/v1/seal/attest"))
    for (const [name, id] of Object.entries(own)) if (name in written) written[name] = id;
  return JSON.stringify(written);
}

async function send(one: Example): Promise<string> {
  const { method, path, type } = one;
  const values = places.find(([fits]) => fits.test(path))?.[1]() ?? {};
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? (name === "index" ? "0" : nowhere));
  // The same manifest comes in several forms.
  const query = /^\/v1\/(agents|workflows|workflows\/temporal\/register)$/.test(path) ? "?force=true" : "";
  const isPerson = /\/(colony|teams)/.test(path);
  const isInTeam = path.startsWith("/v1/colony/") && path !== "/v1/colony/teams";
  const response = await fetch(node.url + filled + query, {
    method,
    body: bodyOf(one),
    headers: {
      "Content-Type": type,
      Accept: path === "/v1/mcp" ? "application/json, text/event-stream" : "application/json",
      Authorization: `Bearer ${await node.token()}`,
      ...(isPerson ? person : {}),
      ...(isInTeam ? { "X-Svc-Team": made.team ?? "" } : {}),
    },
  });
  const text = await response.text();
  const isTaken = response.ok && elsewhere[path] === undefined;
  const isRefusedAsTold = !response.ok && (JSON.parse(text) as { code: string }).code === elsewhere[path];
  return isTaken || isRefusedAsTold ? "" : `${method} ${path} ${type}: ${response.status} ${text.slice(0, 300)}`;
}

test("each is taken, or refused for what the node lacks", async () => {
  const faults: string[] = [];
  const written = examples().filter(({ example }) => example !== undefined);
  expect(written.length).toBeGreaterThan(100);
  for (const one of written) faults.push(await send(one));
  expect(faults.filter((fault) => fault !== "")).toEqual([]);
});

test("only bytes have none", () => {
  const bare = examples().filter(({ example }) => example === undefined);
  expect(bare.map(({ method, path, type }) => `${method} ${path} ${type}`)).toEqual([
    "post /v1/volumes/{id}/files/upload multipart/form-data",
    "post /v1/volumes/{id}/files/upload application/octet-stream",
    "post /v1/webhooks/{source} */*",
    "post /v1/webhooks/{source}/{route_id} */*",
  ]);
});
