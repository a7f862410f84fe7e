/** The whole file system of a host as tools see it, and the one directory in it that is closed (docs/reference/edge-daemon.md). */
import { beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deleteOne, read, write } from "../../../src/lib/tool-files/files.ts";
import { checkArguments } from "../../../src/lib/tool-files/schema.ts";
import { deleteTree, list } from "../../../src/lib/tool-files/tree.ts";
import { View } from "../../../src/lib/tool-files/view.ts";
import { hostView } from "../../../src/lib/tool-files/view-spec.ts";
import { scratch } from "../../harness/scratch.ts";

const top = realpathSync(scratch("host-view"));
const [closed, open] = [join(top, "closed"), join(top, "open")];

beforeAll(() => {
  for (const path of [closed, open, join(closed, "work")]) mkdirSync(path);
  writeFileSync(join(closed, "key"), "secret");
  writeFileSync(join(closed, "work/a"), "a");
  writeFileSync(join(open, "b"), "b");
  symlinkSync(open, join(top, "absolute"));
  symlinkSync("open/b", join(top, "relative"));
  symlinkSync(closed, join(open, "in"));
  symlinkSync("/proc/self/root", join(top, "root"));
  linkSync(join(closed, "key"), join(open, "hard"));
});

function inView<T>(act: (view: View) => T, allowed: readonly (readonly string[])[] = []): T {
  using view = new View(hostView(allowed, { host: closed, except: "work" }));
  return act(view);
}
const content = (path: string, allowed?: readonly (readonly string[])[]): string =>
  inView((view) => read(view, checkArguments("fs.read", { path })).content, allowed);

test.each([
  [() => join(open, "b"), "b"],
  [() => join(top, "absolute/b"), "b"],
  [() => join(top, "relative"), "b"],
  [() => join(top, `root${top}/open/b`), "b"],
  [() => join(closed, "work/a"), "a"],
  [() => join(open, "in/work/a"), "a"],
])("what is open is read by every path to it", (path, text) => {
  expect(content(path())).toBe(text);
});

test.each([
  [() => join(closed, "key")],
  [() => join(closed, "work/../key")],
  [() => join(open, "in/key")],
  [() => join(top, `root${closed}/key`)],
  [() => join(open, "hard")],
])("what is closed is read by none", (path) => {
  expect(() => content(path())).toThrow("may not be seen");
});

test("nothing is made or removed in the closed directory, and walks pass it by", () => {
  const act = (does: (view: View) => unknown) => expect(() => inView(does)).toThrow();
  act((view) => write(view, checkArguments("fs.write", { path: join(closed, "new"), content: "" })));
  act((view) => write(view, checkArguments("fs.write", { path: join(closed, "new/x"), content: "" })));
  act((view) => deleteOne(view, { path: join(closed, "key") }));
  act((view) => deleteTree(view, checkArguments("fs.delete", { path: closed, recursive: true })));
  act((view) => list(view, checkArguments("fs.list", { path: closed })));
  expect(readFileSync(join(closed, "key"), "utf8")).toBe("secret");
  expect(existsSync(join(closed, "new"))).toBe(false);
  const seen = inView((view) => list(view, checkArguments("fs.list", { path: top, recursive: true })));
  expect(seen.entries.map(({ name }) => name)).not.toContain("key");
});

test("lists of paths bind what a link leads to, and a renamed directory stays closed", () => {
  expect(content(join(top, "absolute/b"), [[top]])).toBe("b");
  expect(() => content(join(top, "absolute/b"), [[join(top, "absolute")]])).toThrow("is outside");
  using view = new View(hostView([], { host: closed, except: "work" }));
  const moved = join(top, "moved");
  renameSync(closed, moved);
  expect(() => read(view, checkArguments("fs.read", { path: join(moved, "key") }))).toThrow("may not be seen");
  renameSync(moved, closed);
});
