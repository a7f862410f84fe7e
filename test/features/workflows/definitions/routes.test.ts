/** Workflow definitions over real stores (docs/reference/workflows.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { stringify } from "yaml";
import { workflowSchema } from "../../../../actors/workflow/manifest/manifest.ts";
import {
  Deleted,
  Registered,
  VersionElement,
  WorkflowDetail,
  WorkflowElement,
} from "../../../../src/features/workflows/definitions/schema.ts";
import { done, manifest, newTenant, openFixture, publisher } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.dispose());

test("the manifests' JSON Schema is served without a token", async () => {
  const { status, body } = await fixture.call("no token", "GET", "/schemas/workflow.json");
  expect(status).toBe(200);
  expect(body).toEqual(JSON.parse(JSON.stringify(workflowSchema)));
});

const invoice = `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: invoice-release
  version: "1.2.0"
  input_schema: {type: object, required: [invoice], properties: {invoice: {type: string}}}
  output_schema: {type: object, properties: {length: {type: integer}, by: {type: string}}}
  output_template: {length: "{{COUNT.stdout}}", by: "{{human.approver}}"}
spec:
  initial_state: COUNT
  storage: { workspace: {size_limit_mb: 64} }
  states:
    COUNT:
      kind: System
      command: "printf %s {{input.invoice}} | wc -c"
      transitions: [{condition: exit_code_zero, target: SIGN}]
    SIGN:
      kind: Human
      prompt: "Release {{input.invoice}} ({{trim COUNT.stdout}} characters)?"
      timeout: 2h
      forbid_initiator: true
      transitions:
        - {condition: approved, target: DONE}
        - {condition: rejected, target: REFUSED, feedback: "{{human.feedback}}"}
    DONE: {kind: System, command: noop, transitions: []}
    REFUSED: {kind: System, command: noop, outcome: failed, transitions: []}
`;

describe("registering", () => {
  test("a security context is one that there is and that the deployer may use", async () => {
    const { token } = newTenant();
    const naming = (security_context: string, name = "bound") =>
      manifest(name, "1.0.0", { spec: { security_context } });
    const unknown = await fixture.call(token, "POST", "/v1/workflows", naming("unknown"));
    const path = "spec.security_context";
    expect(unknown).toMatchObject({ status: 422, body: { issues: [{ path, code: "unknown_security_context" }] } });
    for (const [name, code] of [
      ["unknown", "unknown_security_context"],
      ["barred", "security_context_forbidden"],
    ]) {
      const judged = await fixture.call(token, "POST", "/v1/workflows/validate", naming(name as string));
      expect(judged.body).toMatchObject({ valid: false, issues: [{ path, code }] });
    }
    const barred = await fixture.call(token, "POST", "/v1/workflows", naming("barred"));
    expect(barred).toMatchObject({ status: 403, body: { code: "security_context_forbidden" } });
    expect((await fixture.call(token, "POST", "/v1/workflows", naming("mine"))).status).toBe(200);
    // Workflows of all tenants name one that all tenants have, whichever way they come to be that.
    const everywhere = await fixture.call(publisher(), "POST", "/v1/workflows?scope=global", naming("mine"));
    expect(everywhere).toMatchObject({ status: 422, body: { issues: [{ path }] } });
    expect((await fixture.call(publisher(), "POST", "/v1/workflows", naming("mine", "moving"))).status).toBe(200);
    const moved = await fixture.call(publisher(), "POST", "/v1/workflows/moving/scope", { scope: "global" });
    expect(moved).toMatchObject({ status: 422, body: { code: "unknown_security_context", issues: [{ path }] } });
    const global = await fixture.call(publisher(), "POST", "/v1/workflows?scope=global", naming("svc-readonly"));
    expect(global.status).toBe(200);
  });

  test("the example is accepted in every form and on both paths", async () => {
    const document = Bun.YAML.parse(invoice);
    const forms: [string, string | object, Record<string, string>][] = [
      ["YAML", invoice, { "content-type": "application/yaml" }],
      ["YAML said to be JSON", invoice, { "content-type": "application/json" }],
      ["YAML of no type", invoice, {}],
      ["JSON", JSON.stringify(document), {}],
      ["wrapped", { manifest: document }, {}],
      ["wrapped YAML", { manifest_yaml: invoice }, {}],
      ["the other apiVersion", invoice.replace("svc.dev/v1", "100monkeys.ai/v1"), {}],
    ];
    for (const path of ["/v1/workflows", "/v1/workflows/temporal/register"]) {
      for (const [form, body, headers] of forms) {
        const { tenant, token } = newTenant();
        const answer = await fixture.call(token, "POST", path, body, headers);
        expect({ form, status: answer.status, body: answer.body }).toMatchObject({
          status: 200,
          body: {
            name: "invoice-release",
            version: "1.2.0",
            scope: "tenant",
            status: "registered",
            tenant_id: tenant,
            warnings: [],
          },
        });
        expect([...Value.Errors(Registered, answer.body)]).toEqual([]);
      }
    }
    const other = await fixture.call(newTenant().token, "POST", "/v1/workflows", invoice.replace("svc.dev/v1", "v2"));
    expect(other).toMatchObject({ status: 422, body: { code: "invalid_manifest" } });
  });

  test("the same version again is refused, or replaced under its id", async () => {
    const { token } = newTenant();
    const first = await fixture.register(token, manifest("twice"));
    const again = await fixture.call(token, "POST", "/v1/workflows", manifest("twice"));
    expect(again).toMatchObject({ status: 409, body: { code: "workflow_version_exists", existing_id: first.id } });
    const changed = manifest("twice", "1.0.0", { metadata: { description: "changed" } });
    const forced = await fixture.register(token, changed, "?force=true");
    expect(forced).toMatchObject({ id: first.id, created_at: first.created_at });
    const wrapped = await fixture.register(token, { manifest: changed, force: true });
    expect(wrapped.id).toBe(first.id);
    const { body } = await fixture.call(token, "GET", `/v1/workflows/${first.id}`);
    expect(body.description).toBe("changed");
    const { definition } = await fixture.workflows
      .resolve({ tenant: "team-x", ref: "twice", version: null })
      .catch(() => ({ definition: null }));
    expect(definition).toBeNull();
  });

  test("what is wrong says where", async () => {
    const { token } = newTenant();
    const broken = await fixture.call(token, "POST", "/v1/workflows", "a: [1\nb: {");
    expect(broken).toMatchObject({ status: 400, body: { code: "malformed_body" } });
    const agent = (name: string) => ({ kind: "Agent", agent: name, input: "x", transitions: [] });
    const faults: [object, string][] = [
      [
        { states: { DONE: { ...done, transitions: [{ target: "NOWHERE" }] } } },
        "spec.states.DONE.transitions.0.target",
      ],
      [{ states: { DONE: agent("nobody") } }, "spec.states.DONE.agent"],
      [{ states: { DONE: { ...done, comand: "x" } } }, "spec.states.DONE.comand"],
    ];
    for (const [spec, path] of faults) {
      const { status, body } = await fixture.call(
        token,
        "POST",
        "/v1/workflows",
        manifest("faulty", "1.0.0", { spec }),
      );
      expect({ status, paths: body.issues?.map((issue: { path: string }) => issue.path) }).toMatchObject({
        status: 422,
        paths: [path],
      });
    }
    const schema = manifest("faulty", "1.0.0", { metadata: { input_schema: { type: "nonsense" } } });
    const refused = await fixture.call(token, "POST", "/v1/workflows", schema);
    expect(refused).toMatchObject({ status: 422, body: { issues: [{ path: "metadata.input_schema" }] } });
    const warned = await fixture.register(token, manifest("warned", "1.0.0", { spec: { surplus: 1 } }));
    expect(warned.warnings).toMatchObject([{ path: "spec.surplus" }]);
    const tooLarge = await fixture.call(token, "POST", "/v1/workflows", `# ${"x".repeat(1024 * 1024)}\n${invoice}`);
    expect(tooLarge).toMatchObject({ status: 413, body: { code: "body_too_large" } });
  });

  test("agents must be visible to the tenant, sub-workflows may come later", async () => {
    const { tenant, token } = newTenant();
    fixture.agents.add(`${tenant} own-agent`);
    fixture.agents.add("everybodys-agent");
    const agent = (name: string) => ({ kind: "Agent", agent: name, input: "x", transitions: [] });
    for (const name of ["own-agent", "everybodys-agent", "{{input.agent}}"]) {
      await fixture.register(
        token,
        manifest(`calls-${name.replace(/\W/g, "")}`, "1.0.0", { spec: { states: { DONE: agent(name) } } }),
      );
    }
    const foreign = await fixture.call(
      newTenant().token,
      "POST",
      "/v1/workflows/validate",
      manifest("foreign", "1.0.0", { spec: { states: { DONE: agent("own-agent") } } }),
    );
    expect(foreign).toMatchObject({ status: 200, body: { valid: false, issues: [{ code: "agent_not_found" }] } });
    const sub = { kind: "Subworkflow", workflow_id: "not-yet", mode: "fire_and_forget", transitions: [] };
    const registered = await fixture.register(token, manifest("parent", "1.0.0", { spec: { states: { DONE: sub } } }));
    expect(registered.warnings).toMatchObject([{ path: "spec.states.DONE.workflow_id", code: "workflow_not_found" }]);
  });

  test("a dry run stores nothing", async () => {
    const { token } = newTenant();
    const { status, body } = await fixture.call(token, "POST", "/v1/workflows/validate", manifest("dry"));
    expect({ status, body }).toEqual({ status: 200, body: { valid: true, issues: [], warnings: [] } });
    expect((await fixture.call(token, "GET", "/v1/workflows/dry")).status).toBe(404);
  });

  test("many at once: one wins, the others are told which", async () => {
    const { token } = newTenant();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => fixture.call(token, "POST", "/v1/workflows", manifest("race"))),
    );
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    for (const { status, body } of answers)
      if (status !== 200) expect(body).toMatchObject({ existing_id: won?.body.id });
  });
});

describe("reading", () => {
  test("10.0.0 is later than 9.0.0", async () => {
    const { tenant, token } = newTenant();
    for (const version of ["10.0.0", "9.0.0", "10.0.0-rc.1"])
      await fixture.register(token, manifest("sorted", version));
    const latest = await fixture.call(token, "GET", "/v1/workflows/sorted");
    expect(latest.body).toMatchObject({ version: "10.0.0", versions_count: 3 });
    expect([...Value.Errors(WorkflowDetail, latest.body)]).toEqual([]);
    expect(await fixture.workflows.resolve({ tenant, ref: "sorted", version: null })).toMatchObject({
      version: "10.0.0",
    });
    const between = "/v1/workflows/sorted/versions/9.0.0/diff/10.0.0";
    const { body: difference } = await fixture.call(token, "GET", between);
    const changed = [{ path: "metadata.version", from: "9.0.0", to: "10.0.0" }];
    expect(difference).toEqual({ added: [], removed: [], changed });
    const unified = await fixture.call(token, "GET", between, undefined, { accept: "text/plain" });
    expect(unified.text).toMatch(/^--- sorted 9\.0\.0[\s\S]*\n-.*9\.0\.0.*\n\+.*10\.0\.0/m);
    expect((await fixture.call(token, "GET", `${between}.1`)).status).toBe(404);
    const { body } = await fixture.call(token, "GET", "/v1/workflows/sorted/versions");
    expect(
      body.versions.map(({ version, is_latest }: { version: string; is_latest: boolean }) => [version, is_latest]),
    ).toEqual([
      ["10.0.0", true],
      ["10.0.0-rc.1", false],
      ["9.0.0", false],
    ]);
    expect([...Value.Errors(VersionElement, body.items[0])]).toEqual([]);
    const page = await fixture.call(token, "GET", "/v1/workflows/sorted/versions?limit=2");
    const rest = await fixture.call(
      token,
      "GET",
      `/v1/workflows/sorted/versions?limit=2&cursor=${page.body.next_cursor}`,
    );
    expect(rest.body.items.map(({ version }: { version: string }) => version)).toEqual(["9.0.0"]);
    const old = await fixture.call(token, "GET", "/v1/workflows/sorted?version=9.0.0");
    expect(old.body.version).toBe("9.0.0");
    // A UUID pins its version.
    expect(await fixture.workflows.resolve({ tenant, ref: old.body.id, version: null })).toMatchObject({
      version: "9.0.0",
    });
    await expect(fixture.workflows.resolve({ tenant, ref: old.body.id, version: "10.0.0" })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });

  test("the manifest as it was registered", async () => {
    const { token } = newTenant();
    await fixture.register(token, invoice);
    const yaml = await fixture.call(token, "GET", "/v1/workflows/invoice-release/yaml");
    expect({ text: yaml.text, type: yaml.headers.get("content-type") }).toEqual({
      text: invoice,
      type: "text/yaml; charset=utf-8",
    });
    for (const accept of ["text/plain", "text/yaml", "application/yaml"]) {
      const { text } = await fixture.call(token, "GET", "/v1/workflows/invoice-release", undefined, { accept });
      expect(text).toBe(invoice);
    }
    const json = await fixture.call(token, "GET", "/v1/workflows/invoice-release", undefined, { accept: "*/*" });
    expect(json.body).toMatchObject({
      manifest_yaml: invoice,
      metadata: { output_template: { by: "{{human.approver}}" } },
    });
    const fromJson = await fixture.register(token, manifest("from-json"));
    const shown = await fixture.call(token, "GET", `/v1/workflows/${fromJson.id}`);
    expect(Bun.YAML.parse(shown.body.manifest_yaml)).toEqual(manifest("from-json"));
    expect(Object.keys(shown.body.metadata)).not.toContain("output_schema");
  });

  test("lists page by name, filter, and show the latest version of each", async () => {
    const { token } = newTenant();
    for (const name of ["b-two", "a-one", "c-three"]) {
      await fixture.register(
        token,
        stringify(manifest(name, "1.0.0", { metadata: { labels: { team: name[0] }, tags: [`tag-${name[0]}`] } })),
      );
    }
    await fixture.register(token, manifest("a-one", "2.0.0", { metadata: { labels: { team: "a" } } }));
    const names = (body: { items: { name: string; version: string }[] }) =>
      body.items.map(({ name, version }) => `${name} ${version}`);
    const all = await fixture.call(token, "GET", "/v1/workflows");
    expect(names(all.body)).toEqual(["a-one 2.0.0", "b-two 1.0.0", "c-three 1.0.0"]);
    expect(all.body.workflows).toEqual(all.body.items);
    expect([...Value.Errors(WorkflowElement, all.body.items[0])]).toEqual([]);
    expect(Object.keys(all.body.items[0])).not.toContain("manifest_yaml");
    const paged: string[] = [];
    for (let cursor = ""; ; ) {
      const page = await fixture.call(token, "GET", `/v1/workflows?limit=1&all_versions=true${cursor}`);
      paged.push(...names(page.body));
      if (page.body.next_cursor === null) break;
      cursor = `&cursor=${page.body.next_cursor}`;
    }
    expect(paged).toEqual(["a-one 2.0.0", "a-one 1.0.0", "b-two 1.0.0", "c-three 1.0.0"]);
    expect(names((await fixture.call(token, "GET", "/v1/workflows?label=team=b")).body)).toEqual(["b-two 1.0.0"]);
    expect(names((await fixture.call(token, "GET", "/v1/workflows?tag=tag-c")).body)).toEqual(["c-three 1.0.0"]);
    expect(names((await fixture.call(token, "GET", "/v1/workflows?q=C-Th")).body)).toEqual(["c-three 1.0.0"]);
    expect(names((await fixture.call(token, "GET", "/v1/workflows?q=%25")).body)).toEqual([]);
    expect((await fixture.call(token, "GET", "/v1/workflows?label=nonsense")).status).toBe(422);
    expect((await fixture.call(token, "GET", "/v1/workflows?cursor=WyIxIl0")).status).toBe(422);
  });
});

describe("removing", () => {
  test("all versions of a name, or one", async () => {
    const { token } = newTenant();
    for (const version of ["1.0.0", "2.0.0", "3.0.0"]) await fixture.register(token, manifest("gone", version));
    const one = await fixture.call(token, "DELETE", "/v1/workflows/gone?version=2.0.0");
    expect(one.body).toEqual({ status: "deleted", success: true, name: "gone", deleted_versions: ["2.0.0"] });
    expect([...Value.Errors(Deleted, one.body)]).toEqual([]);
    const rest = await fixture.call(token, "DELETE", "/v1/workflows/gone");
    expect(rest.body.deleted_versions).toEqual(["3.0.0", "1.0.0"]);
    expect((await fixture.call(token, "DELETE", "/v1/workflows/gone")).status).toBe(404);
    expect((await fixture.register(token, manifest("gone"))).status).toBe("registered");
  });

  test("one that runs is kept, unless its runs are to be cancelled", async () => {
    const { token } = newTenant();
    const { id } = await fixture.register(token, manifest("busy"));
    fixture.running.set("run-1", id);
    const refused = await fixture.call(token, "DELETE", "/v1/workflows/busy");
    expect(refused).toMatchObject({ status: 409, body: { code: "workflow_in_use", execution_ids: ["run-1"] } });
    expect((await fixture.call(token, "DELETE", "/v1/workflows/busy?force=true")).status).toBe(200);
    expect(fixture.cancelled).toContain("run-1 workflow_deleted");
  });
});

test("hostile references and bodies are decided answers", async () => {
  const { token } = newTenant();
  const refs = ["%00", "x".repeat(5000), "..%2F..%2Fetc", "'%3B--", "%F0%9F%98%80", "executions", "validate"];
  for (const ref of refs) {
    const { status } = await fixture.call(token, "GET", `/v1/workflows/${ref}`);
    expect({ ref, fine: [400, 404, 405].includes(status) }).toEqual({ ref, fine: true });
  }
  const bodies = [
    "",
    "null",
    "[]",
    "\u0000",
    '{"manifest":null}',
    '{"manifest_yaml":7}',
    "&a [*a]",
    `{"a":${"[".repeat(5000)}`,
  ];
  for (const body of bodies) {
    const { status } = await fixture.call(token, "POST", "/v1/workflows", body);
    expect({ body: body.slice(0, 20), fine: [400, 413, 422].includes(status) }).toEqual({
      body: body.slice(0, 20),
      fine: true,
    });
  }
  for (const text of ['"a\\u0000b"', '"\\ud800"']) {
    const document = JSON.stringify(manifest("odd")).replace('"odd"', `"odd","description":${text}`);
    expect((await fixture.call(token, "POST", "/v1/workflows", document)).status).toBe(422);
  }
});
