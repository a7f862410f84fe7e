import { expect, test } from "bun:test";
import { LaunchFailure } from "../../../src/adapters/sandbox/port.ts";
import { commandConformance, commandSpec } from "./commands.ts";
import { bubblewrapWorks, processFixture } from "./fixture.ts";

const works = await bubblewrapWorks();
// Counted as skipped where bubblewrap does not work.
test.skipIf(!works)("bubblewrap holds commands", () => expect(works).toBe(true));
if (works) {
  commandConformance("bubblewrap", () => processFixture({ allowUnsandboxed: false }));
  commandConformance("bubblewrap without control groups", () => processFixture({ cgroups: false }));
}

test("without bubblewrap there are no commands, in development neither", async () => {
  const fixture = await processFixture({ bubblewrap: false, allowUnsandboxed: true });
  const spec = commandSpec(fixture, { argv: ["true"] });
  const failure = await fixture.sandbox.launch(spec, () => {}).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LaunchFailure);
  expect(failure).toHaveProperty("code", "sandbox_unavailable");
  expect(await fixture.sandbox.list()).toEqual([]);
  await fixture.dispose();
});

test("without containers a command is user 1000", async () => {
  if (!works) return;
  const fixture = await processFixture();
  const spec = commandSpec(fixture, { argv: ["true"], user: 1_234 });
  expect(fixture.sandbox.launch(spec, () => {})).rejects.toHaveProperty("code", "runtime_error");
  await fixture.dispose();
});
