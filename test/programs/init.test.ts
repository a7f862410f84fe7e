/** How a replaced bootstrap is run: by itself, or by the interpreter of its suffix. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandFor } from "../../src/programs/init/command.ts";
import { scratch } from "../harness/scratch.ts";

const directory = scratch("init");
const bin = join(directory, "bin");
mkdirSync(bin);
function placed(name: string, mode: number): string {
  const path = join(directory, name);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, mode);
  return path;
}
for (const name of ["python", "node", "sh"]) placed(join("bin", name), 0o755);

test.each([
  ["run.py", 0o755, []],
  ["plain.py", 0o644, ["python"]],
  ["plain.js", 0o644, ["node"]],
  ["plain.mjs", 0o644, ["node"]],
  ["plain.sh", 0o644, ["sh"]],
])("%s with mode %o", (name, mode, interpreter) => {
  const path = placed(name, mode);
  expect(commandFor(path, bin)).toEqual({ ok: true, argv: [...interpreter.map((one) => join(bin, one)), path] });
});

test("python3 comes before python, and without node there may be bun", () => {
  const other = join(directory, "other");
  mkdirSync(other);
  for (const name of ["python3", "python", "bun"]) placed(join("other", name), 0o755);
  const python = placed("a.py", 0o644);
  expect(commandFor(python, other)).toEqual({ ok: true, argv: [join(other, "python3"), python] });
  const script = placed("a.js", 0o644);
  expect(commandFor(script, other)).toEqual({ ok: true, argv: [join(other, "bun"), script] });
});

test("what cannot be run: 126 for what is there, 127 for what is not", () => {
  const loop = join(directory, "loop");
  symlinkSync(loop, loop);
  const empty = join(directory, "empty");
  mkdirSync(empty);
  const refused = (path: string, search = bin) => {
    const found = commandFor(path, search);
    return found.ok ? 0 : found.code;
  };
  expect(refused(placed("data.txt", 0o644))).toBe(126);
  expect(refused(placed("noext", 0o644))).toBe(126);
  expect(refused(placed("lonely.py", 0o644), empty)).toBe(126);
  for (const path of [directory, join(directory, "gone"), "relative.sh", "", loop, `/a${"b".repeat(5_000)}`, "/a\0b"]) {
    expect(refused(path)).toBe(127);
  }
});
