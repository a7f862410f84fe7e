/** The node dies while containers of a run are at work: what still runs is followed, what is gone ran once. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { labels } from "../../../src/adapters/sandbox/docker/container-options.ts";
import { Engine } from "../../../src/adapters/sandbox/docker/engine.ts";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { podman } from "../../harness/outside/podman.ts";
import { until } from "../../harness/until.ts";
import { count, dieAndReturn, end, expectOnce, held, kept, marksOf, openGate, untilMarks } from "./fixture.ts";

setDefaultTimeout(90_000);

const pod = await podman();
// Counted as skipped where there are no containers.
test.skipIf(pod === null)("an engine answers", () => expect(pod).not.toBeNull());

if (pod !== null) {
  describe("containers of runs", () => {
    const image = { image: pod.bare, image_pull_policy: "Never", network_mode: "none" };
    const box = (command: string, more: object = {}) => ({
      kind: "ContainerRun",
      name: "box",
      ...image,
      shell: true,
      command: [command],
      transitions: [{ target: "END" }],
      ...more,
    });
    const steps = (texts: Readonly<Record<string, string>>, completion: string) => ({
      kind: "ParallelContainerRun",
      completion,
      steps: Object.entries(texts).map(([name, text]) => ({
        name,
        image: pod.bare,
        network_mode: "none",
        command: ["sh", "-c", text],
      })),
      transitions: [{ target: "END" }],
    });
    const works: Readonly<Record<string, object>> = {
      box: box(held("box")),
      "box-lost": box(held("box")),
      "box-retried": box(held("box"), { retry: { max_attempts: 2, backoff: "1s" } }),
      steps: steps({ quick: "echo quick >> marks", slow: held("slow") }, "all_succeed"),
      "steps-lost": steps({ a: held("a"), b: held("b") }, "best_effort"),
    };

    let at: NodeFixture;
    const runs: Record<string, string> = {};
    const run = (name: string): string => runs[name] ?? "";

    beforeAll(async () => {
      at = await NodeFixture.open({
        SVC_DOCKER_SOCKET: pod.socket,
        SVC_RUNTIME_DEFAULT: "process",
        SVC_IMAGE_REGISTRIES: "localhost",
      });
      for (const [name, work] of Object.entries(works)) {
        await at.register(name, { WORK: work, END: end }, kept);
        runs[name] = await at.start(name);
      }
      for (const name of ["box", "box-lost", "box-retried"]) await untilMarks(at, run(name), 1);
      for (const name of ["steps", "steps-lost"]) await untilMarks(at, run(name), 2);
      await until(
        async () =>
          count(
            (await at.logOf(run("steps"))).map(({ type }) => type),
            "ContainerRunCompleted",
          ) === 1,
        { timeoutMs: 30_000, what: "the end of a step" },
      );
      await at.node.kill();
      const engine = new Engine(pod.socket);
      for (const name of ["box-lost", "box-retried", "steps-lost"]) {
        const containers = await engine.list([`${labels.execution}=${run(name)}`]);
        expect(containers.length).toBeGreaterThan(0);
        for (const container of containers) await engine.remove(container.name);
      }
      await at.node.restart();
    }, 90_000);
    afterAll(() => at.close());

    test("one that runs on is followed to its end", async () => {
      await openGate(at, run("box"));
      expect((await at.ended(run("box"))).state_outputs.WORK).toMatchObject({ status: "success", attempts: 1 });
      expect(await marksOf(at, run("box"))).toEqual(["box"]);
      const types = await expectOnce(at, run("box"));
      expect([count(types, "ContainerRunStarted"), count(types, "ContainerRunCompleted")]).toEqual([1, 1]);
    });

    test("one that is gone was interrupted, and is not run again", async () => {
      const { state_outputs } = await at.ended(run("box-lost"));
      expect(state_outputs.WORK).toMatchObject({ status: "failed", error_code: "interrupted", attempts: 1 });
      expect(await marksOf(at, run("box-lost"))).toEqual(["box"]);
      expect(count(await expectOnce(at, run("box-lost")), "ContainerRunFailed")).toBe(1);
    });

    test("one that is gone is run again where its state says so", async () => {
      await openGate(at, run("box-retried"));
      const { state_outputs } = await at.ended(run("box-retried"));
      expect(state_outputs.WORK).toMatchObject({ status: "success", attempts: 2 });
      expect(await marksOf(at, run("box-retried"))).toEqual(["box", "box"]);
      const types = await expectOnce(at, run("box-retried"));
      expect([count(types, "ContainerRunStarted"), count(types, "ContainerRunCompleted")]).toEqual([1, 1]);
    });

    test("of several at once the ended one stays so, the other is followed", async () => {
      await openGate(at, run("steps"));
      const { state_outputs } = await at.ended(run("steps"));
      expect(state_outputs.WORK).toMatchObject({ overall_success: true, succeeded: 2, failed: 0 });
      expect((await marksOf(at, run("steps"))).toSorted()).toEqual(["quick", "slow"]);
      const types = await expectOnce(at, run("steps"));
      expect([count(types, "ContainerRunStarted"), count(types, "ContainerRunCompleted")]).toEqual([2, 2]);
    });

    test("several that are gone were interrupted, each of them once", async () => {
      const { state_outputs } = await at.ended(run("steps-lost"));
      const lost = { status: "failed", error_code: "interrupted" };
      expect(state_outputs.WORK).toMatchObject({
        overall_success: true,
        succeeded: 0,
        failed: 2,
        results: [lost, lost],
      });
      expect((await marksOf(at, run("steps-lost"))).toSorted()).toEqual(["a", "b"]);
      expect(count(await expectOnce(at, run("steps-lost")), "ContainerRunFailed")).toBe(2);
    });

    test("killed at any moment of a launch: each container runs once", async () => {
      const line = (name: string) => `echo "$SVC_WORKFLOW_EXECUTION_ID ${name}" >> marks`;
      const on = { transitions: [{ condition: "on_success", target: "TWO" }] };
      await at.register(
        "launches",
        { ONE: box(line("one"), on), TWO: steps({ two: line("two") }, "all_succeed"), END: end },
        kept,
      );
      const ids: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        // Work that three nodes died with as soon as it ran is set aside, so no run meets more than two deaths.
        if (round % 2 === 0) for (const id of ids) await at.ended(id);
        for (let each = 0; each < 2; each += 1) ids.push(await at.start("launches"));
        // Any moment of a launch: no condition stands for it.
        await Bun.sleep(Math.random() * 600);
        await dieAndReturn(at);
      }
      for (const id of ids) {
        const { status, error } = await at.ended(id);
        expect({ id, status, error }).toEqual({ id, status: "completed", error: null });
        await expectOnce(at, id);
        const lines = (await marksOf(at, id)).filter((text) => text.startsWith(id));
        expect(lines).toEqual([`${id} one`, `${id} two`]);
      }
    });
  });
}
