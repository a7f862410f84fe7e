import { expect, test } from "bun:test";
import { LaunchFailure } from "../../../src/adapters/sandbox/port.ts";
import { bubblewrapWorks, processBench } from "./bench.ts";
import { commandConformance, commandSpec } from "./commands.ts";

const works = await bubblewrapWorks();
// Counted as skipped where bubblewrap does not work.
test.skipIf(!works)("bubblewrap holds commands", () => expect(works).toBe(true));
if (works) {
  commandConformance("bubblewrap", () => processBench({ allowUnsandboxed: false }));
  commandConformance("bubblewrap without control groups", () => processBench({ cgroups: false }));
}

test("without bubblewrap there are no commands, in development neither", async () => {
  const bench = await processBench({ bubblewrap: false, allowUnsandboxed: true });
  const spec = commandSpec(bench, { argv: ["true"] });
  const failure = await bench.sandbox.launch(spec, () => {}).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LaunchFailure);
  expect(failure).toHaveProperty("code", "sandbox_unavailable");
  expect(await bench.sandbox.list()).toEqual([]);
  await bench.dispose();
});

test("without containers a command is user 1000", async () => {
  if (!works) return;
  const bench = await processBench();
  const spec = commandSpec(bench, { argv: ["true"], user: 1_234 });
  expect(bench.sandbox.launch(spec, () => {})).rejects.toHaveProperty("code", "runtime_error");
  await bench.dispose();
});
