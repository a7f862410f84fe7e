/** What images of containers and agents are pulled with (docs/reference/credentials.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LooseJson } from "../../harness/loose-json.ts";
import { manifest, say } from "../../harness/manifests.ts";
import { podman } from "../../harness/outside/podman.ts";
import type { Registry } from "../../harness/outside/registry.ts";
import { until } from "../../harness/until.ts";
import { type Caller, CredentialFixture } from "./fixture.ts";

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());

if (engine !== null) {
  describe("registry_credentials", () => {
    const password = "the-word-for-the-registry";
    let at: CredentialFixture;
    let registry: Registry;
    /** Of an image that the tests of agents alone pull. */
    let from: Registry;
    let ann: Caller;
    let bob: Caller;
    let admin: Caller;
    beforeAll(async () => {
      registry = await engine.registry(`puller:${password}`);
      from = await engine.registry("reader:a-word-for-agents");
      from.challenge = "bearer";
      at = await CredentialFixture.open({
        SVC_DOCKER_SOCKET: engine.socket,
        SVC_IMAGE_REGISTRIES: `localhost,${registry.address},${from.address}`,
        SVC_LOG_LEVEL: "debug",
      });
      [ann, bob, admin] = [await at.member("ann"), await at.member("bob"), await at.member("ada", "tenant:admin")];
    });
    afterAll(async () => {
      await at?.close();
      await Promise.all([registry?.stop(), from?.stop()]);
    });

    const box = (registry_credentials: string | null, more: object = {}) => ({
      kind: "ContainerRun",
      name: "box",
      image: `${registry.address}/svc/bare:1`,
      command: ["echo", "ran"],
      network_mode: "none",
      transitions: [],
      ...(registry_credentials === null ? {} : { registry_credentials }),
      ...more,
    });
    const registered = async (who: Caller | undefined, name: string, BOX: object) => {
      const spec = { initial_state: "BOX", states: { BOX } };
      const document = { apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name }, spec };
      return at.node.call("POST", "/v1/workflows?force=true", document, who);
    };
    /** The refusal's word, or the record of the run's end. */
    const run = async (who: Caller | undefined, name: string): Promise<LooseJson> => {
      const { status, body } = await at.node.call("POST", `/v1/workflows/${name}/run`, {}, who);
      if (status !== 200) return `${status} ${body.code} ${body.issues?.[0]?.path}`;
      const record = () => at.node.call("GET", `/v1/workflows/executions/${body.execution_id}`, undefined, who);
      return until(async () => ((await record()).body.ended_at === null ? null : (await record()).body), {
        timeoutMs: 60_000,
        what: "the run to end",
      });
    };
    const path = "spec.states.BOX.registry_credentials";

    test("are pulled with once granted; another tenant gets nothing of it", async () => {
      const value = `puller:${password}`;
      const { id } = await at.made(ann, { provider: "registry", value });
      expect((await registered(ann, "pulls", box(id.toUpperCase()))).status).toBe(200);
      expect(await run(ann, "pulls")).toBe(`422 credential_not_granted ${path}`);
      expect((await at.call(ann, "POST", `/${id}/grants`, { workflow_name: "pulls" })).status).toBe(201);
      expect(await run(bob, "pulls")).toBe(`422 credential_not_found ${path}`);
      const done = await run(ann, "pulls");
      expect(done.blackboard.BOX).toMatchObject({ status: "success", stdout: "ran\n" });
      const used = await at.node.call("GET", `/v1/audit?action=credential.used&target_id=${id}`, undefined, admin);
      expect(used.body.items).toMatchObject([{ actor: { kind: "workflow", name: "pulls" }, outcome: "allowed" }]);
      expect((await at.call(ann, "GET", `/${id}`)).body.last_used).toEqual(expect.any(String));
      // The host has the image now. Another tenant's run is refused, as if it were not there.
      expect((await registered(undefined, "takes", box(null))).status).toBe(200);
      const { blackboard } = await run(undefined, "takes");
      expect(blackboard.BOX).toMatchObject({ status: "failed", error_code: "image_pull_failed" });
      expect((await registered(undefined, "names", box(id))).status).toBe(200);
      expect(await run(undefined, "names")).toBe(`422 credential_not_found ${path}`);
      const told = [JSON.stringify([done, blackboard]), at.node.output, await at.dump()].join("\n");
      for (const word of [password, Buffer.from(value).toString("base64")]) expect(told).not.toContain(word);
    }, 120_000);

    /** @returns the refusal's word and place at the deploy or the start, or the record of the execution's end */
    const agentRun = async (who: Caller, registry_credentials: string | null): Promise<LooseJson> => {
      const runtime = {
        image: `${from.address}/svc/bare:1`,
        isolation: "docker",
        ...(registry_credentials === null ? {} : { registry_credentials }),
      };
      const document = manifest({ name: "puller", runtime, script: [say("ran")] });
      const deployed = await at.node.call("POST", "/v1/agents?force=true", document, who);
      const start = async () => at.executions.start(deployed.body.agent_id, { wait_seconds: 60 }, who);
      const { status, body } = deployed.status === 200 ? await start() : deployed;
      const record = () => at.node.call("GET", `/v1/executions/${body.execution_id}`, undefined, who);
      return status === 200 ? (await record()).body : `${status} ${body.code} ${body.issues?.[0]?.path}`;
    };

    test("of an agent come from a secret or a credential; nothing tells them", async () => {
      const owner = await at.bearer({ username: "owner-of-acme" }, "tenant-acme");
      const data = { username: "reader", password: "a-word-for-agents" };
      expect((await at.node.call("PUT", "/v1/secrets/registries/agents", { data }, owner)).status).toBe(200);
      const place = "spec.runtime.registry_credentials";
      const cora = await at.consumer("cora");
      expect(await agentRun(cora, "secret:registries/agents")).toBe(`422 secret_forbidden ${place}`);
      expect(await agentRun(owner, "secret:registries/none")).toBe(`422 secret_not_found ${place}`);
      const done = await agentRun(owner, "secret:registries/agents");
      expect(done).toMatchObject({ status: "completed", output: "ran" });
      // The host has the image now; an agent without them asks the registry in vain, and so does another tenant's.
      expect(await agentRun(owner, null)).toMatchObject({ status: "failed", error_code: "image_pull_failed" });
      expect(await agentRun(cora, null)).toMatchObject({ status: "failed", error_code: "image_pull_failed" });

      const value = "reader:a-word-for-agents";
      const made = await at.made(owner, { provider: "agents-registry", scope: "tenant", value });
      expect(await agentRun(owner, "credential:agents-registry")).toBe(`422 credential_not_granted ${place}`);
      const grant = { target_type: "all_agents", target_value: "*" };
      expect((await at.call(owner, "POST", `/${made.id}/grants`, grant)).status).toBe(201);
      const again = await agentRun(owner, "credential:agents-registry");
      expect(again).toMatchObject({ status: "completed", output: "ran" });
      const used = await at.node.call("GET", `/v1/audit?action=credential.used&target_id=${made.id}`, undefined, owner);
      expect(used.body.items).toMatchObject([{ actor: { kind: "agent" }, outcome: "allowed" }]);

      const bad = await at.made(owner, { provider: "agents-registry-2", scope: "tenant", value: "only-a-token" });
      expect((await at.call(owner, "POST", `/${bad.id}/grants`, grant)).status).toBe(201);
      const invalid = await agentRun(owner, bad.id);
      expect(invalid).toMatchObject({ status: "failed", error_code: "registry_credentials_invalid" });

      const events = await Promise.all(
        [done, again, invalid].map(async ({ execution_id }) => {
          const followed = await at.executions.follow(execution_id, "?verbose=true", owner);
          await followed.done;
          return followed.frames;
        }),
      );
      const told = [
        JSON.stringify([done, again, invalid, events]),
        at.node.output,
        await at.dump(),
        filesOf(at.node.dataDir),
      ];
      for (const word of ["a-word-for-agents", "only-a-token", Buffer.from(value).toString("base64")]) {
        for (const text of told) expect(text.includes(word)).toBe(false);
      }
    }, 120_000);

    test("that are refused, or no login, fail the state without their value", async () => {
      for (const [value, error_code] of [
        ["puller:not-the-word", "image_pull_failed"],
        ["only-a-token", "registry_credentials_invalid"],
      ] as const) {
        const { id } = await at.made(ann, { provider: "registry", label: error_code, value });
        const steps = [{ ...box(id), kind: undefined, transitions: undefined }];
        const state = { kind: "ParallelContainerRun", completion: "all_succeed", steps, transitions: [] };
        expect((await registered(ann, "fails", state)).status).toBe(200);
        await at.call(ann, "POST", `/${id}/grants`, { workflow_name: "fails" });
        const { blackboard } = await run(ann, "fails");
        expect(blackboard.BOX.results).toMatchObject([{ status: "failed", error_code }]);
        expect(JSON.stringify(blackboard)).not.toContain(value);
        expect(at.node.output).not.toContain(value.replace("puller:", ""));
      }
    }, 120_000);

    test("go to the registry that the manifest names, not to one of the input", async () => {
      const { id } = await at.made(ann, { provider: "registry", label: "sent", value: "a:b" });
      const { status, body } = await registered(ann, "sends", box(id, { image: "{{input.where}}/svc/bare:1" }));
      expect([status, body.issues?.[0].path]).toEqual([422, "spec.states.BOX.image"]);
      const kept = await registered(ann, "sends", box(id, { image: `${registry.address}/svc/{{input.what}}:1` }));
      expect(kept.status).toBe(200);
    });
  });
}

/** Everything that lies below a directory, as text. */
function filesOf(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"))
    .join("\n");
}
