import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { podman } from "../../../harness/outside/podman.ts";
import { commandConformance, commandSpec } from "../commands.ts";
import { runToEnd } from "../instances.ts";
import { type DockerFixture, dockerFixture } from "./fixture.ts";

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());
if (engine !== null) {
  commandConformance("docker", () => dockerFixture(engine));

  describe("commands in containers", () => {
    let fixture: DockerFixture;
    beforeAll(async () => {
      fixture = await dockerFixture(engine);
    });
    afterAll(() => fixture.dispose());
    const image = { reference: engine.equipped, pullPolicy: "Never" } as const;

    test("see what their image gives, but nothing that passes for ours", async () => {
      const spec = commandSpec(fixture, { argv: ["/bin/env"] }, { image, environment: { FLAVOUR2: "x" } });
      const { exit } = await runToEnd(fixture.sandbox, spec);
      expect(exit.stdout.split("\n")).toContain("FLAVOUR=equipped");
      expect(exit.stdout).toContain("PATH=/opt/tools:/usr/bin:/bin\n");
      expect(exit.stdout).not.toMatch(/^(SVC|AEGIS)_/m);
    });

    test("write anywhere in a root that is not read-only", async () => {
      const argv = ["/bin/sh", "-c", "echo x > /open/made && cat /open/made; echo y > /dev/shm/made && echo shm"];
      const spec = commandSpec(fixture, { argv }, { readOnlyRoot: false });
      expect((await runToEnd(fixture.sandbox, spec)).exit.stdout).toBe("x\nshm\n");
    });

    test("run as another user where one is named, in the same group", async () => {
      const spec = commandSpec(fixture, { argv: ["/bin/sh", "-c", "id -u; id -g"], user: 4_321 });
      expect((await runToEnd(fixture.sandbox, spec)).exit.stdout).toBe("4321\n1000\n");
    });

    test("have volumes at any place but the system's and ours", async () => {
      for (const target of ["/data", "/opt/tools/deep", "/tmp/in", "/tmp"]) {
        const base = commandSpec(fixture, { argv: ["/bin/cat", `${target}/given`] });
        const source = fixture.volume();
        writeFileSync(join(source, "given"), target);
        const mounts = [...base.mounts, { source, target, readOnly: true }];
        expect((await runToEnd(fixture.sandbox, { ...base, mounts })).exit).toMatchObject({
          exitCode: 0,
          stdout: target,
        });
      }
      for (const target of [
        "/",
        "/proc",
        "/proc/self",
        "/sys",
        "/dev/shm",
        "/run",
        "/run/svc/control",
        "/a/../b",
        "rel",
      ]) {
        const base = commandSpec(fixture, { argv: ["/bin/true"] });
        const mounts = [...base.mounts, { source: fixture.volume(), target, readOnly: false }];
        const launched = fixture.sandbox.launch({ ...base, mounts }, () => {});
        expect(await launched.catch((error: unknown) => error)).toHaveProperty("code", "volume_error");
      }
    });
  });
}
