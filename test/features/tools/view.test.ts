/** The fs.* tools over several mounts and under a policy: routing, refusals, and no way around them (docs/reference/volumes.md). */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FilesystemRules } from "../../../actors/policy/filesystem/policy.ts";
import { createFsTools } from "../../../src/features/tools/fs/provider.ts";
import type { ViewMount, ViewSpec } from "../../../src/lib/tool-files/view-spec.ts";
import { requestOf } from "./request.ts";

let base: string;
let spec: ViewSpec;
const host = (...path: string[]) => join(base, ...path);

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "svc-view-"));
  for (const name of ["root", "data", "deep", "root/a"]) mkdirSync(host(name));
  spec = {
    mounts: [mount("root", "/workspace"), mount("data", "/workspace/data"), mount("deep", "/workspace/a/deep")],
    rules: null,
  };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const mount = (name: string, target: string, change: Partial<ViewMount> = {}): ViewMount => ({
  host: host(name),
  target,
  readOnly: false,
  freeBytes: null,
  ...change,
});
const under = (change: Partial<FilesystemRules>) => {
  spec = { ...spec, rules: { read: [], write: [], read_only: false, ...change } };
};

const tools = createFsTools(async () => spec);
const call = (name: string, given: Record<string, unknown>) => tools.call(requestOf(name, given));
async function code(name: string, given: Record<string, unknown>): Promise<string> {
  const outcome = await call(name, given);
  return outcome.status === "succeeded" ? "succeeded" : outcome.code;
}
async function result(name: string, given: Record<string, unknown>) {
  const outcome = await call(name, given);
  if (outcome.status !== "succeeded") throw new Error(JSON.stringify(outcome));
  return outcome.result;
}
const paths = async (given: Record<string, unknown> = {}) =>
  ((await result("fs.list", { recursive: true, ...given })).entries as { path: string }[]).map(({ path }) => path);

describe("several mounts", () => {
  test("a path goes to the volume mounted deepest above it", async () => {
    await result("fs.write", { path: "/workspace/data/x", content: "data" });
    await result("fs.write", { path: "a/deep/new/y", content: "deep" });
    await result("fs.write", { path: "z", content: "root" });
    expect(readFileSync(host("data/x"), "utf8")).toBe("data");
    expect(readFileSync(host("deep/new/y"), "utf8")).toBe("deep");
    expect(readdirSync(host("root")).sort()).toEqual(["a", "z"]);
    expect(await result("fs.read", { path: "/workspace/a/../data/x" })).toMatchObject({ content: "data" });
  });

  test("lists, globs and searches go through all of them once their places exist", async () => {
    mkdirSync(host("root/data"));
    mkdirSync(host("root/a/deep"));
    writeFileSync(host("data/f"), "needle");
    writeFileSync(host("deep/f"), "needle");
    // What lies under a mount is not there for the agent.
    writeFileSync(host("root/data/under"), "needle");
    expect(await paths()).toEqual([
      "/workspace/a",
      "/workspace/a/deep",
      "/workspace/a/deep/f",
      "/workspace/data",
      "/workspace/data/f",
    ]);
    expect(await result("fs.glob", { pattern: "**/f" })).toMatchObject({ count: 2 });
    expect(await result("fs.grep", { pattern: "needle" })).toMatchObject({ count: 2 });
    expect(await code("fs.read", { path: "data/under" })).toBe("not_found");
  });

  test("links lead from one volume into another, and `..` back out of it", async () => {
    mkdirSync(host("root/data"));
    writeFileSync(host("data/x"), "data");
    writeFileSync(host("root/top"), "root");
    symlinkSync("data/x", host("root/relative"));
    symlinkSync("/workspace/data", host("root/absolute"));
    symlinkSync("../top", host("data/back"));
    symlinkSync("../../../etc/passwd", host("data/out"));
    for (const [path, content] of [
      ["relative", "data"],
      ["absolute/x", "data"],
      ["data/back", "root"],
      ["absolute/back", "root"],
    ]) {
      expect(await result("fs.read", { path })).toMatchObject({ content });
    }
    expect(await code("fs.read", { path: "data/out" })).toBe("path_not_allowed");
  });

  test.each([
    ["fs.delete", { path: "data" }, "forbidden"],
    ["fs.delete", { path: "data", recursive: true }, "forbidden"],
    ["fs.delete", { path: "a", recursive: true }, "forbidden"],
    ["fs.create_dir", { path: "data" }, "forbidden"],
    ["fs.write", { path: "data", content: "" }, "not_a_file"],
  ])("the root of a mount stays: %s %j", async (name, given, expected) => {
    mkdirSync(host("root/data"));
    mkdirSync(host("root/a/deep"));
    expect(await code(name, given)).toBe(expected);
    expect(existsSync(host("deep"))).toBe(true);
  });

  test("a read-only volume is read and not written, through links either", async () => {
    writeFileSync(host("data/x"), "old");
    symlinkSync("/workspace/data/x", host("root/link"));
    spec = { ...spec, mounts: [mount("root", "/workspace"), mount("data", "/workspace/data", { readOnly: true })] };
    expect(await code("fs.read", { path: "data/x" })).toBe("succeeded");
    const attempts: [string, Record<string, unknown>][] = [
      ["fs.write", { path: "data/x", content: "new" }],
      ["fs.write", { path: "link", content: "new" }],
      ["fs.write", { path: "data/new/deep", content: "" }],
      ["fs.edit", { path: "data/x", target_content: "old", replacement_content: "new" }],
      ["fs.multi_edit", { path: "link", edits: [{ target_content: "old", replacement_content: "new" }] }],
      ["fs.create_dir", { path: "data/d" }],
      ["fs.delete", { path: "data/x" }],
      ["fs.delete", { path: "data/x", recursive: true }],
    ];
    for (const [name, given] of attempts) expect([name, await code(name, given)]).toEqual([name, "path_not_allowed"]);
    expect(readdirSync(host("data"))).toEqual(["x"]);
    expect(readFileSync(host("data/x"), "utf8")).toBe("old");
  });

  test("a size limit holds for every way to write", async () => {
    writeFileSync(host("data/x"), "1234");
    spec = { ...spec, mounts: [mount("root", "/workspace"), mount("data", "/workspace/data", { freeBytes: 2 })] };
    expect(await code("fs.write", { path: "data/new", content: "123" })).toBe("quota_exceeded");
    expect(await code("fs.write", { path: "data/new", content: "12" })).toBe("succeeded");
    expect(await code("fs.write", { path: "data/x", content: "123456" })).toBe("succeeded");
    expect(await code("fs.write", { path: "data/x", content: "123456789" })).toBe("quota_exceeded");
    expect(await code("fs.write", { path: "data/x", content: "789", mode: "append" })).toBe("quota_exceeded");
    const growth = { target_content: "1", replacement_content: "1111" };
    expect(await code("fs.edit", { path: "data/x", ...growth })).toBe("quota_exceeded");
    expect(await code("fs.write", { path: "free", content: "123456789" })).toBe("succeeded");
    expect(readdirSync(host("data")).sort()).toEqual(["new", "x"]);
  });

  test("a writer that swaps a directory for a link into a read-only volume gains nothing", async () => {
    writeFileSync(host("data/x"), "kept");
    mkdirSync(host("root/data"));
    mkdirSync(host("root/swap"));
    spec = { ...spec, mounts: [mount("root", "/workspace"), mount("data", "/workspace/data", { readOnly: true })] };
    let swaps = 0;
    const until = performance.now() + 500;
    while (performance.now() < until) {
      const pending = Array.from({ length: 8 }, (_, index) =>
        call("fs.write", { path: `swap/${index % 2 === 0 ? "x" : "new"}`, content: "swapped" }),
      );
      renameSync(host("root/swap"), host("root/aside"));
      symlinkSync("/workspace/data", host("root/swap"));
      await Promise.all(pending);
      unlinkSync(host("root/swap"));
      renameSync(host("root/aside"), host("root/swap"));
      swaps += 1;
    }
    expect(swaps).toBeGreaterThan(5);
    expect([readdirSync(host("data")), readFileSync(host("data/x"), "utf8")]).toEqual([["x"], "kept"]);
  });
});

describe("the policy", () => {
  beforeEach(() => {
    mkdirSync(host("root/in"));
    mkdirSync(host("root/out"));
    writeFileSync(host("root/in/a.txt"), "needle");
    writeFileSync(host("root/in/b.csv"), "needle");
    writeFileSync(host("root/secret"), "needle");
    spec = { ...spec, mounts: [mount("root", "/workspace")] };
  });

  test("write patterns are exact, wildcards included", async () => {
    under({ write: ["/workspace/out/*.csv"] });
    expect(await code("fs.write", { path: "out/a.csv", content: "" })).toBe("succeeded");
    expect(await code("fs.write", { path: "out/a.txt", content: "" })).toBe("path_not_allowed");
    expect(await code("fs.write", { path: "beside", content: "" })).toBe("path_not_allowed");
    expect(await code("fs.create_dir", { path: "out/d" })).toBe("path_not_allowed");
    expect(await code("fs.delete", { path: "out", recursive: true })).toBe("path_not_allowed");
    expect(await code("fs.delete", { path: "out/a.csv" })).toBe("succeeded");
    expect(await code("fs.read", { path: "secret" })).toBe("succeeded");
  });

  test("a refusal is 2002 and says which path", async () => {
    under({ write: ["/workspace/out"] });
    expect(await call("fs.write", { path: "in/x", content: "" })).toEqual({
      status: "refused",
      error_code: 2002,
      code: "path_not_allowed",
      violation_type: "path_outside_boundary",
      message: "/workspace/in/x may not be written",
      attempted: "/workspace/in/x",
    });
  });

  test("what may not be read is not there for any tool, whether it exists or not", async () => {
    under({ read: ["/workspace/in/*.txt"], write: ["/workspace/out"] });
    expect(await paths()).toEqual(["/workspace/in", "/workspace/in/a.txt", "/workspace/out"]);
    expect(await result("fs.glob", { pattern: "**" })).toMatchObject({
      matches: ["/workspace/in", "/workspace/in/a.txt", "/workspace/out"],
    });
    expect(await result("fs.grep", { pattern: "needle" })).toMatchObject({ count: 1 });
    for (const path of ["secret", "nothing", "in/b.csv", "in/none", "a", "a/deeper/x"]) {
      expect([path, await code("fs.read", { path })]).toEqual([path, "path_not_allowed"]);
    }
    expect(await code("fs.grep", { pattern: "needle", path: "secret" })).toBe("path_not_allowed");
    expect(await code("fs.list", { path: "a" })).toBe("path_not_allowed");
    expect(await code("fs.read", { path: "in" })).toBe("path_not_allowed");
    expect(await code("fs.list", { path: "in" })).toBe("succeeded");
    expect(await code("fs.write", { path: "out/x", content: "" })).toBe("succeeded");
    expect(await code("fs.read", { path: "out/x" })).toBe("succeeded");
  });

  test("no link leads around it, nor does a hard link's other name", async () => {
    under({ read: ["/workspace/in"], write: ["/workspace/out"] });
    symlinkSync("../secret", host("root/in/relative"));
    symlinkSync("/workspace/secret", host("root/in/absolute"));
    symlinkSync("../in/a.txt", host("root/out/link"));
    symlinkSync("..", host("root/in/up"));
    for (const path of ["in/relative", "in/absolute", "in/up/secret"]) {
      expect([path, await code("fs.read", { path })]).toEqual([path, "path_not_allowed"]);
    }
    expect(await code("fs.write", { path: "out/link", content: "changed" })).toBe("path_not_allowed");
    expect(readFileSync(host("root/in/a.txt"), "utf8")).toBe("needle");
    linkSync(host("root/in/a.txt"), host("root/out/hard"));
    await result("fs.write", { path: "out/hard", content: "changed" });
    expect(readFileSync(host("root/in/a.txt"), "utf8")).toBe("needle");
  });

  test("read-only beats write; /workspace itself may be all there is to see", async () => {
    under({ read_only: true, write: ["/workspace/out"] });
    expect(await code("fs.write", { path: "out/x", content: "" })).toBe("path_not_allowed");
    expect(await code("fs.read", { path: "secret" })).toBe("succeeded");
    under({ read: ["/workspace/none"] });
    expect(await paths()).toEqual([]);
  });

  test("missing parents are made only where writing is allowed", async () => {
    under({ write: ["/workspace/x/y"] });
    expect(await code("fs.write", { path: "x/y/z", content: "" })).toBe("path_not_allowed");
    mkdirSync(host("root/x"));
    expect(await code("fs.write", { path: "x/y/z", content: "" })).toBe("succeeded");
  });
});

test("no descriptor is left open", async () => {
  const open = () => readdirSync("/proc/self/fd").length;
  under({ read: ["/workspace/data"], write: ["/workspace/a/deep"] });
  const before = open();
  for (let round = 0; round < 20; round++) {
    await call("fs.read", { path: "data/none" });
    await call("fs.read", { path: "secret" });
    await call("fs.write", { path: "a/deep/n/x", content: "" });
    await call("fs.delete", { path: "a/deep/n/x" });
  }
  expect(open()).toBe(before);
});
