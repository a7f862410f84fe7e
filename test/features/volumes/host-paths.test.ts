/** Directories of the host in agents: whose, and where they really lie (docs/reference/volumes.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { scratch } from "../../harness/scratch.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

const root = scratch("opened");
const models = join(root, "open", "models");
mkdirSync(models, { recursive: true });
mkdirSync(join(root, "secret"));
writeFileSync(join(models, "weights"), "heavy\n");
writeFileSync(join(root, "secret", "weights"), "not for agents\n");

let at: ExecutionFixture;
beforeAll(async () => {
  const clients = [
    { client_id: "svc-dev", client_secret: "svc-dev-secret", role: "admin" },
    { client_id: "plain", client_secret: "plain-secret" },
  ];
  at = await ExecutionFixture.open({
    SVC_HOST_PATHS: join(root, "open"),
    SVC_DEV_CLIENTS: JSON.stringify(clients),
  });
});
afterAll(() => at?.close());

type Headers = Readonly<Record<string, string>>;
const operator = async (): Promise<Headers> => {
  const fields = { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" };
  return { Authorization: `Bearer ${await at.node.token(fields, "svc-system")}` };
};
const opened = (path: string, more: object = {}) =>
  manifest({
    name: "reader",
    script: [
      shell("cat /workspace/models/weights; touch /workspace/models/made && echo wrote || echo refused"),
      say("ok"),
    ],
    spec: {
      volumes: [
        {
          name: "models",
          mount_path: "/workspace/models",
          type: "hostPath",
          access_mode: "read-only",
          source: { path },
          ...more,
        },
      ],
    },
  });
const stepsOf = async (id: string, headers: Headers) =>
  JSON.stringify((await at.node.call("GET", `/v1/executions/${id}/iterations?include=llm`, undefined, headers)).body);

test("an operator's agent sees one read-only; others neither deploy nor change it", async () => {
  const admin = await operator();
  const owner = { Authorization: `Bearer ${await at.node.token({ username: "owner-of-acme" }, "tenant-acme")}` };
  const refused = await at.node.call("POST", "/v1/agents", opened(models), owner);
  expect([refused.status, refused.body.code]).toEqual([422, "volume_type_forbidden"]);
  const beside = await at.node.call("POST", "/v1/agents", opened(join(root, "secret")), admin);
  expect([beside.status, beside.body.code]).toEqual([422, "volume_type_forbidden"]);

  const { status, body } = await at.node.call("POST", "/v1/agents", opened(models), admin);
  expect([status, body.issues]).toEqual([200, undefined]);
  const run = await at.node.call(
    "POST",
    "/v1/executions",
    { agent_id: body.agent_id, input: "", wait_seconds: 60 },
    admin,
  );
  expect(run.body).toMatchObject({ status: "completed" });
  const steps = await stepsOf(run.body.execution_id, admin);
  expect(steps).toContain("heavy");
  expect(steps).toContain("refused");

  // A machine of the same tenant that is no operator changes nothing of it, not even by going back to it.
  const fields = { client_id: "plain", client_secret: "plain-secret" };
  const plain = { Authorization: `Bearer ${await at.node.token(fields, "svc-system")}` };
  const machine = await at.node.call("POST", "/v1/agents", opened(models), plain);
  const patched = await at.node.call("PATCH", `/v1/agents/${body.agent_id}`, { description: "mine" }, plain);
  const next = manifest({ name: "reader", version: "2.0.0", script: [say("ok")] });
  expect((await at.node.call("POST", "/v1/agents", next, admin)).status).toBe(200);
  const back = await at.node.call("POST", `/v1/agents/${body.agent_id}/rollback`, { version: "1.0.0" }, plain);
  for (const answer of [machine, patched, back]) {
    expect([answer.status, answer.body.code]).toEqual([422, "volume_type_forbidden"]);
  }
  expect((await at.node.call("POST", `/v1/agents/${body.agent_id}/rollback`, {}, admin)).status).toBe(200);

  // A link in its place leads out: what it led to when it was deployed does not count.
  renameSync(models, join(root, "moved"));
  symlinkSync(join(root, "secret"), models);
  const later = await at.node.call(
    "POST",
    "/v1/executions",
    { agent_id: body.agent_id, input: "", wait_seconds: 60 },
    admin,
  );
  const record = (await at.node.call("GET", `/v1/executions/${later.body.execution_id}`, undefined, admin)).body;
  expect(record).toMatchObject({ status: "failed", error_code: "volume_error" });
  expect(JSON.stringify(record)).not.toContain(root);
});
