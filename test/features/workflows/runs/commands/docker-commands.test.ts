/** Commands in containers, as activities. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Attempts } from "../../../../../src/features/workflows/runs/commands/attempts.ts";
import type { CommandOptions } from "../../../../../src/features/workflows/runs/commands/spec.ts";
import { type DockerFixture, dockerFixture } from "../../../../adapters/sandbox/docker/fixture.ts";
import { podman } from "../../../../harness/outside/podman.ts";
import { until } from "../../../../harness/until.ts";
import { begin, commandOptions, directoryOf, run, script, volumeAt } from "./command-fixture.ts";

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());

if (engine !== null) {
  describe("a command in a container", () => {
    let fixture: DockerFixture;
    let options: CommandOptions;
    beforeAll(async () => {
      fixture = await dockerFixture(engine);
      options = commandOptions(fixture.dataDir, [fixture.docker], { systemImage: engine.bare });
    });
    afterAll(() => fixture.dispose());
    const contained = (text: string, changes: Parameters<typeof script>[1] = {}) =>
      script(text, { kind: "container", image: engine.equipped, read_only_root: false, ...changes });

    test("of a System state has the node's image and a read-only root", async () => {
      const end = await run(
        options,
        script("echo $FLAVOUR; id -u; (echo x > /open/x) 2>/dev/null || echo kept; ls -A"),
      );
      expect(end).toMatchObject({ status: "success", stdout: "\n1000\nkept\n", warnings: [], attempts: 1 });
      const named = await run(options, script("echo $FLAVOUR", { image: engine.equipped }));
      expect(named.stdout).toBe("equipped\n");
    });

    test("has its image, its user, its volumes and an empty workspace", async () => {
      const volume = volumeAt("/data");
      const text =
        "id -u; id -g; ls -A /workspace; echo x > /open/x && cat /open/x; echo y > mine && cat mine; cat /data/given";
      const directory = directoryOf(fixture.dataDir, volume);
      await Bun.write(join(directory, "given"), "from-host\n");
      const end = await run(options, contained(text, { mounts: [volume], run_as_user: 1_234 }));
      expect(end).toMatchObject({ status: "success", stdout: "1234\n1000\nx\ny\nfrom-host\n" });
    });

    test("is root inside where the node allows that, without its powers", async () => {
      const work = contained("id -u; grep CapEff /proc/self/status", { run_as_user: 0 });
      expect(await run(options, work)).toMatchObject({ status: "failed", error: "root_forbidden", attempts: 0 });
      const end = await run({ ...options, rootAllowed: true }, { ...work, instance_id: crypto.randomUUID() });
      expect(end).toMatchObject({ status: "success", stdout: "0\nCapEff:\t0000000000000000\n" });
    });

    test("that takes too long is ended: -1, timed_out, its output so far", async () => {
      const end = await run(options, contained("echo begun; sleep 30", { timeout_ms: 2_000 }));
      expect(end).toMatchObject({ status: "failed", exit_code: -1, timed_out: true, stdout: "begun\n" });
    });

    test("whose image cannot be had says so, after as many attempts as it has", async () => {
      const work = contained("true", { image: "localhost/none:1", image_pull_policy: "Never" });
      const end = await run(options, { ...work, retry: { max_attempts: 2, backoff_ms: 0 } });
      expect(end).toMatchObject({ status: "failed", exit_code: null, error: "image_pull_failed", attempts: 2 });
      expect(end.stderr).toContain("localhost/none:1");
    });

    test.each([
      ["docker.io/library/alpine:3", "image_not_allowed", ["localhost"]],
      ["No Image", "invalid_image", ["localhost"]],
      // As a template made it.
      ["169.254.169.254/latest", "image_not_allowed", null],
      ["localhost:6379/a", "image_not_allowed", ["*"]],
    ])("is refused image %p: %s", async (image, error, imageRegistries) => {
      const strict = { ...options, imageRegistries };
      expect(await run(strict, contained("true", { image }))).toMatchObject({ status: "failed", error, attempts: 0 });
    });

    test("is run unasked from an image only that the operator lists", async () => {
      const work = contained("true", { image: "localhost/none:1", image_pull_policy: "Never" });
      const refused = { status: "failed", error: "image_not_allowed", attempts: 0 };
      expect(await run({ ...options, localImages: ["localhost/other"] }, work)).toMatchObject(refused);
      const listed = await run({ ...options, localImages: ["localhost/none"] }, work);
      expect(listed).toMatchObject({ status: "failed", error: "image_pull_failed" });
    });

    test("is followed by the next node to its end, and ran once", async () => {
      const workspace = volumeAt("/workspace");
      const directory = directoryOf(fixture.dataDir, workspace);
      const work = contained("echo x >> runs; while [ ! -e go ]; do sleep 0.05; done; echo done; exit 4", {
        mounts: [workspace],
      });
      const first = begin(options, work);
      await until(async () => (await new Attempts(fixture.dataDir).read(work.instance_id))?.phase === "launched");
      first.abort("draining");
      await first.end.catch(() => {});
      const other = commandOptions(fixture.dataDir, [await fixture.anotherDocker()]);
      const second = begin(other, work, { resumed: true });
      writeFileSync(join(directory, "go"), "");
      expect(await second.end).toMatchObject({ status: "failed", exit_code: 4, stdout: "done\n", attempts: 1 });
      expect(readFileSync(join(directory, "runs"), "utf8")).toBe("x\n");
    });

    test("that is given up while its image comes never runs", async () => {
      const registry = await engine.registry();
      registry.silent = true;
      const work = contained("touch ran", { image: `${registry.address}/svc/bare:1` });
      const given = begin({ ...options, imageRegistries: [registry.address] }, work);
      await until(() => registry.asked.length > 0, { what: "the pull" });
      given.abort("abandoned");
      await registry.stop();
      await given.end.catch(() => {});
      expect(await fixture.docker.inspect(work.instance_id)).toBe("gone");
    }, 60_000);
  });
}
