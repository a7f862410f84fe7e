/** States that run containers, end to end on a real node with a real engine. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { podman } from "../../../harness/outside/podman.ts";
import { until } from "../../../harness/until.ts";
import { NodeFixture } from "../definitions/node-fixture.ts";

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());

if (engine !== null) {
  describe("states that run containers", () => {
    let at: NodeFixture;
    let count = 0;
    beforeAll(async () => {
      at = await NodeFixture.open({
        SVC_DOCKER_SOCKET: engine.socket,
        SVC_RUNTIME_DEFAULT: "docker",
        SVC_SYSTEM_IMAGE: engine.bare,
        SVC_IMAGE_REGISTRIES: "localhost",
      });
    });
    afterAll(() => at.close());

    async function start(states: Readonly<Record<string, object>>, spec: object = {}, body: object = {}) {
      count += 1;
      await at.register(`containers-${count}`, states, { spec });
      return at.start(`containers-${count}`, body);
    }
    const run = async (...given: Parameters<typeof start>) => at.ended(await start(...given));
    const box = (command: string[], more: object = {}) => ({
      kind: "ContainerRun",
      name: "box",
      image: engine.equipped,
      image_pull_policy: "Never",
      network_mode: "none",
      command,
      transitions: [],
      ...more,
    });

    test("System and ContainerRun share the workspace; each has its image", async () => {
      const states = {
        MAKE: {
          kind: "System",
          command: 'echo {{input.word}} > file; id -u; echo "[$FLAVOUR]"',
          transitions: [{ target: "SHOW" }],
        },
        SHOW: box(["cat", "file"], { transitions: [{ target: "SAY" }] }),
        SAY: box(["echo", '"$FLAVOUR" {{input.word}}'], { shell: true }),
      };
      const { status, blackboard } = await run(states, { storage: { workspace: {} } }, { input: { word: "a b" } });
      expect(status).toBe("completed");
      expect(blackboard.MAKE).toMatchObject({ exit_code: 0, stdout: "1000\n[]\n" });
      expect(blackboard.SHOW).toMatchObject({ status: "success", exit_code: 0, stdout: "a b\n", attempts: 1 });
      expect(blackboard.SAY).toMatchObject({ exit_code: 0, stdout: "equipped a b\n" });
    });

    test("steps that run at once have a shared volume", async () => {
      const step = (name: string, command: string) => ({
        name,
        image: engine.bare,
        command: ["sh", "-c", command],
        network_mode: "none",
        volumes: [{ name: "cache", mount_path: "/cache" }],
      });
      const states = {
        BOTH: {
          kind: "ParallelContainerRun",
          completion: "all_succeed",
          steps: [
            step("left", "echo l > /cache/l; while [ ! -e /cache/r ]; do sleep 0.05; done"),
            step("right", "echo r > /cache/r; while [ ! -e /cache/l ]; do sleep 0.05; done; ls /cache"),
          ],
          transitions: [],
        },
      };
      const { status, blackboard } = await run(states, { storage: { shared_volumes: [{ name: "cache" }] } });
      expect(status).toBe("completed");
      expect(blackboard.BOTH).toMatchObject({ overall_success: true, succeeded: 2, failed: 0 });
      expect(blackboard.BOTH.output.right).toMatchObject({ exit_code: 0, stdout: "l\nr\n" });
    });

    test("an image that cannot be had fails the state after its attempts", async () => {
      const retry = { max_attempts: 2, backoff: "0s" };
      const { status, blackboard } = await run({ BOX: box(["true"], { image: "localhost/svc-test/none:1", retry }) });
      expect(status).toBe("failed");
      expect(blackboard.BOX).toMatchObject({ status: "failed", error_code: "image_pull_failed", attempts: 2 });
    });

    test("outlive the node that is killed", async () => {
      const states = { WAIT: box(["sh", "-c", "echo x >> runs; while [ ! -e go ]; do sleep 0.05; done; cat runs"]) };
      const id = await start(states, { storage: { workspace: {} } });
      const { blackboard: begun } = await at.reached(
        id,
        ({ blackboard }) => blackboard.workspace_volume_id,
        "the volume",
      );
      const workspace = join(at.node.dataDir, "workspaces", begun.workspace_volume_id);
      await until(() => existsSync(join(workspace, "runs")), { timeoutMs: 20_000, what: "the command to run" });
      await at.node.kill();
      writeFileSync(join(workspace, "go"), "");
      await at.node.restart();
      const { status, blackboard } = await at.ended(id);
      expect(status).toBe("completed");
      expect(blackboard.WAIT).toMatchObject({ status: "success", stdout: "x\n", attempts: 1 });
    }, 60_000);
  });
}
