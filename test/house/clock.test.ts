/** Time and the ids made from it come from the node's one clock, PostgreSQL's (docs/decisions/one-clock.md). */
import { expect, test } from "bun:test";
import { readSources } from "./sources.ts";

/** The machine's own clock, and ids that carry its time: `Bun.randomUUIDv7("hex", now())` is the node's form. */
const machineTime = /\bDate\.now\b|\bnew Date\(\)|\brandomUUIDv7\b(?!\("hex", )/;

/** Where the machine's clock is right, and why. */
const allowed: Readonly<Record<string, string>> = {
  "src/features/doctor/stores.ts": "it is the clock of the machine that is looked at",
  "src/store/postgres/clock.ts": "until the first answer of PostgreSQL there is no other time",
  "src/store/bullmq.ts": "until a node has asked PostgreSQL, and the text that is replaced",
  "src/adapters/sandbox/process/process-sandbox.ts": "compared with times of files, which this machine writes",
  "src/adapters/sandbox/process/cleanup/removal.ts": "compared with times of files, which this machine writes",
  "src/adapters/sandbox/stillness.ts": "compared with times of files, which this machine writes",
  "src/adapters/sandbox/docker/images/private-images.ts": "compared with times of files, which this machine writes",
  "src/programs/edge-daemon/clock.ts": "the machine of a host, which has no database; watched against a steady clock",
  "src/programs/svc/process/process-io.ts": "the machine of a caller, which has no database",
  "src/programs/client/errors.ts": "runs on the machine of a caller; compared with a date of HTTP",
  "src/programs/bootstrap/transport.ts": "runs in a sandbox, without a database; compared with a date of HTTP",
};

/** The code of a line, without comments. */
const codeOf = (line: string): string => (/^\s*(?:\/?\*|\/\/)/.test(line) ? "" : line.replace(/\s\/\/ .*$/, ""));

test("no code reads the machine's clock but where this test says why", async () => {
  const readers = (await readSources("src", "actors"))
    // In a person's browser there is no other clock.
    .filter(({ path }) => !path.startsWith("src/console/"))
    .filter(({ text }) => text.split("\n").some((line) => machineTime.test(codeOf(line))))
    .map(({ path }) => path);
  expect(readers.sort()).toEqual(Object.keys(allowed).sort());
});

test.each([
  ["Date.now()", true],
  ["now: () => number = Date.now,", true],
  ["new Date().toISOString()", true],
  ["idempotent(call, Bun.randomUUIDv7)", true],
  ["Bun.randomUUIDv7()", true],
  ['Bun.randomUUIDv7("hex", clock.now())', false],
  ["new Date(now())", false],
  ["performance.now()", false],
])("%s reads the machine's clock: %p", (code, reads) => {
  expect(machineTime.test(code)).toBe(reads);
});
