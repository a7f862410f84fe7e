/** What happens when a node dies in the middle of a launch, or an end is wished for before the start. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fitsArgument, sandboxEnvironment } from "../../../../../src/adapters/sandbox/instance-environment.ts";
import type { InstanceSpec } from "../../../../../src/adapters/sandbox/port.ts";
import { planLaunch } from "../../../../../src/adapters/sandbox/process/launch/launch.ts";
import { startText } from "../../../../../src/adapters/sandbox/process/launch/start-text.ts";
import { Layout } from "../../../../../src/adapters/sandbox/process/layout.ts";
import { SandboxUnavailable } from "../../../../../src/adapters/sandbox/process/process-sandbox.ts";
import { bundleProgram } from "../../../../../src/programs/bundle.ts";
import { processFixture, shellProgram } from "../../fixture.ts";
import { runToEnd, specOf } from "../../instances.ts";

let fixture: Awaited<ReturnType<typeof processFixture>>;
beforeAll(async () => {
  fixture = await processFixture({ bubblewrap: false });
});
afterAll(() => fixture.dispose());

/** Leaves an instance as a node does that dies after writing the plan and before starting the supervisor. */
function writtenOnly(spec: InstanceSpec): string {
  const layout = new Layout(fixture.dataDir);
  const { plan } = planLaunch(
    spec,
    layout,
    { bun: process.execPath, bootstrap: "", hand: "/programs/hand.js", init: "", program: shellProgram },
    null,
    null,
    { allowed: true, own: [] },
  );
  const directory = layout.instance(spec.instanceId);
  mkdirSync(directory);
  writeFileSync(join(directory, "launch.json"), JSON.stringify(plan));
  return directory;
}

const marking = () => specOf(fixture, "echo ran >> ran; echo out");
const ran = async (spec: InstanceSpec) => existsSync(join(fixture.workspace(spec.executionId), "ran"));

test("a launch cut off is taken up by the next one", async () => {
  const spec = marking();
  writtenOnly(spec);
  expect(await fixture.sandbox.inspect(spec.instanceId)).toBe("running");
  expect((await runToEnd(fixture.sandbox, spec)).exit).toMatchObject({
    reason: "exited",
    exitCode: 0,
    stdout: "out\n",
  });
});

test("one found dead after 10 s is gone for good: a late supervisor does not run it", async () => {
  const spec = marking();
  const directory = writtenOnly(spec);
  const before = new Date(Date.now() - 11_000);
  utimesSync(join(directory, "launch.json"), before, before);
  const follow = { signal: AbortSignal.timeout(5_000), from: { stdout: 0, stderr: 0 }, onOutput() {} };
  expect((await fixture.sandbox.follow(spec.instanceId, follow)).reason).toBe("lost");
  const supervisor = await bundleProgram(fixture.dataDir, "supervisor");
  expect(Bun.spawnSync([process.execPath, supervisor, directory]).exitCode).toBe(0);
  expect(await ran(spec)).toBe(false);
  expect(await fixture.sandbox.inspect(spec.instanceId)).toBe("gone");
});

test("ended before its start, it never starts", async () => {
  const spec = marking();
  writtenOnly(spec);
  await fixture.sandbox.terminate(spec.instanceId, 5_000);
  expect((await runToEnd(fixture.sandbox, spec)).exit).toMatchObject({ reason: "terminated", exitCode: null });
  expect(await ran(spec)).toBe(false);
});

test("end wished for while it starts", async () => {
  for (let i = 0; i < 8; i += 1) {
    const spec = specOf(fixture, "sleep 30");
    await fixture.sandbox.launch(spec, () => {});
    // Another moment of the start each time.
    await Bun.sleep(i * 3);
    await fixture.sandbox.terminate(spec.instanceId, 100);
    expect(await fixture.sandbox.inspect(spec.instanceId)).toBe("exited");
  }
}, 30_000);

test("without a sandbox: one warning, or a refusal where that is not allowed", async () => {
  expect(fixture.warnings.filter((warning) => warning.includes("WITHOUT a sandbox"))).toHaveLength(1);
  expect(fixture.sandbox.describe()).toMatchObject({ isolation: "process", sandbox: "none", egressEnforced: false });
  expect(processFixture({ bubblewrap: false, allowUnsandboxed: false })).rejects.toThrow(SandboxUnavailable);
});

test("variables that the kernel cannot take are left out and named", () => {
  const places = {
    workspace: "/w",
    gatewaySockets: "/g",
    egressSockets: null,
    promptFile: null,
    startupFile: null,
    relay: false,
    egress: null,
  };
  const given = { GOOD: "1", LONG: "x".repeat(131_072), "A=B": "1", "": "1", NUL: "a\0b" };
  const { environment, leftOut } = sandboxEnvironment(given, places, {});
  expect(leftOut.toSorted()).toEqual(["", "A=B", "LONG", "NUL"]);
  expect(environment).toMatchObject({ GOOD: "1", SVC_WORKSPACE: "/w", AEGIS_WORKSPACE: "/w", HOME: "/w" });
  expect(fitsArgument("x".repeat(98_304))).toBe(true);
  expect(fitsArgument("x".repeat(98_305))).toBe(false);
});

test("the start text survives every character a shell knows", () => {
  const value = "a'b\"c$d`e\\f\n;|&*?~ é";
  const text = startText({ V: value }, ["/bin/sh", "-c", 'printf "%s" "$V"; printf "%s" "$1"', "x", value], "/");
  const { stdout } = Bun.spawnSync(["/bin/sh", "-c", text]);
  expect(stdout.toString()).toBe(value + value);
});
