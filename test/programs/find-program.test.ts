import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../src/programs/find-program.ts";
import { scratch } from "../harness/scratch.ts";

const root = scratch("programs");
const file = (path: string, mode: number) => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), "#!/bin/sh\n");
  chmodSync(join(root, path), mode);
};
file("first/plain", 0o644);
file("first/dir/inner", 0o755);
file("second/plain", 0o755);
file("second/tool", 0o755);
file("here/own", 0o755);
const searchPath = `${root}/none:${root}/first:${root}/second`;

test.each([
  ["tool", "second/tool"],
  ["plain", "second/plain"],
  ["./own", "here/own"],
  ["../second/tool", "second/tool"],
  [join(root, "second/tool"), "second/tool"],
])("%s is found", (name, path) => {
  expect(findProgram(name, searchPath, join(root, "here"))).toEqual({ ok: true, path: join(root, path) });
});

test("an empty directory of PATH is the one it runs in", () => {
  expect(findProgram("own", `${root}/none:`, join(root, "here"))).toMatchObject({ ok: true });
  expect(findProgram("own", `${root}/none`, join(root, "here"))).toMatchObject({ ok: false, code: 127 });
});

test.each([
  ["nothing", 127],
  ["", 127],
  ["./nothing", 127],
  ["dir", 127],
  [join(root, "first/dir"), 126],
  [join(root, "first/plain"), 126],
  ["../first/plain", 126],
])("%s is not: %i", (name, code) => {
  expect(findProgram(name, searchPath, join(root, "here"))).toMatchObject({ ok: false, code });
});

test("a name that only files without permission have cannot be run", () => {
  expect(findProgram("plain", join(root, "first"), root)).toMatchObject({ ok: false, code: 126 });
});

test("nothing runs in a directory that is not there", () => {
  expect(findProgram("tool", searchPath, join(root, "gone"))).toMatchObject({ ok: false, code: 126 });
});
