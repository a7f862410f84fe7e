/** Credentials that the images of a workflow's containers are pulled with (docs/reference/credentials.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { podman, type Registry } from "../../harness/outside/podman.ts";
import { until } from "../../harness/until.ts";
import { type Caller, CredentialFixture } from "./fixture.ts";

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());

if (engine !== null) {
  describe("registry_credentials of a container", () => {
    const password = "the-word-for-the-registry";
    let at: CredentialFixture;
    let registry: Registry;
    let ann: Caller;
    let bob: Caller;
    let admin: Caller;
    beforeAll(async () => {
      registry = await engine.registry(`puller:${password}`);
      at = await CredentialFixture.open({
        SVC_DOCKER_SOCKET: engine.socket,
        SVC_IMAGE_REGISTRIES: `localhost,${registry.address}`,
        SVC_LOG_LEVEL: "debug",
      });
      [ann, bob, admin] = [await at.member("ann"), await at.member("bob"), await at.member("ada", "tenant:admin")];
    });
    afterAll(async () => {
      await at?.close();
      await registry?.stop();
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
