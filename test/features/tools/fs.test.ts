/** The fs.* tools on a real directory: results and failure codes (docs/reference/gateway.md). */
import { beforeEach, describe, expect, test } from "bun:test";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { builtinTools } from "../../../actors/tool/catalog.ts";
import { at, call, code, ok, openWorkspace, tools } from "./fixture.ts";

openWorkspace();

test("paths and chains of links that lead over many names are refused", async () => {
  const deep = (names: number) => `/workspace/${"d/".repeat(names)}`;
  expect(await code("fs.create_dir", { path: deep(128) })).toBe("succeeded");
  expect(await code("fs.create_dir", { path: deep(129) })).toBe("invalid_path");
  expect(await code("fs.read", { path: `${deep(1900)}f` })).toBe("invalid_path");
  // Each link leads to the one before it by way of all directories, down and up again.
  const around = `${"d/".repeat(60)}${"../".repeat(60)}`;
  writeFileSync(join(at.host, "link-0"), "x");
  for (let link = 1; link <= 8; link++) symlinkSync(`${around}link-${link - 1}`, join(at.host, `link-${link}`));
  expect(await code("fs.read", { path: "/workspace/link-2" })).toBe("succeeded");
  expect(await code("fs.read", { path: "/workspace/link-8" })).toBe("invalid_path");
});

test("what is offered is what the catalogue says runs here", async () => {
  const names = builtinTools.map(({ name }) => name).filter((name) => name.startsWith("fs."));
  expect((await tools.tools("t")).map(({ name }) => name)).toEqual(names);
});

describe("read and write", () => {
  test("what is written is read, with exactly these keys", async () => {
    expect(await ok("fs.write", { path: "a/b/n.md", content: "hi\n" })).toEqual({
      path: "/workspace/a/b/n.md",
      bytes_written: 3,
      created: true,
    });
    expect(await ok("fs.read", { path: "/workspace/a/b/n.md" })).toEqual({
      path: "/workspace/a/b/n.md",
      content: "hi\n",
      encoding: "utf-8",
      size_bytes: 3,
      offset: 0,
      truncated: false,
    });
  });

  test("overwriting with less leaves no old bytes and keeps the mode", async () => {
    writeFileSync(join(at.host, "f"), "a long old content", { mode: 0o750 });
    expect(await ok("fs.write", { path: "f", content: "x" })).toMatchObject({ created: false });
    expect(readFileSync(join(at.host, "f"), "utf8")).toBe("x");
    expect(statSync(join(at.host, "f")).mode & 0o777).toBe(0o750);
    expect(readdirSync(at.host)).toEqual(["f"]);
  });

  test("append adds, create_new refuses what is there, base64 carries bytes", async () => {
    await ok("fs.write", { path: "f", content: "a", mode: "append" });
    await ok("fs.write", { path: "f", content: "b", mode: "append" });
    expect(readFileSync(join(at.host, "f"), "utf8")).toBe("ab");
    expect(await code("fs.write", { path: "f", content: "", mode: "create_new" })).toBe("already_exists");
    await ok("fs.write", { path: "g", content: "/wAB", encoding: "base64", mode: "create_new" });
    expect(await ok("fs.read", { path: "g" })).toMatchObject({ content: "/wAB", encoding: "base64", size_bytes: 3 });
    expect(readdirSync(at.host).sort()).toEqual(["f", "g"]);
  });

  test("a page of text never ends inside a character", async () => {
    writeFileSync(join(at.host, "f"), "aé漢😀z");
    const bytes = Buffer.from("aé漢😀z");
    let text = "";
    for (let offset = 0; offset < bytes.length; ) {
      const page = await ok("fs.read", { path: "f", offset, max_bytes: 4 });
      expect(page.encoding).toBe("utf-8");
      text += page.content;
      offset += Buffer.byteLength(String(page.content));
    }
    expect(text).toBe("aé漢😀z");
  });

  test("new files belong to the workspace's owner", async () => {
    if (process.getuid?.() !== 0) return;
    chownSync(at.host, 1000, 1000);
    await ok("fs.write", { path: "d/f", content: "x" });
    expect(statSync(join(at.host, "d")).uid).toBe(1000);
    expect(statSync(join(at.host, "d/f")).gid).toBe(1000);
  });

  test.each([
    ["fs.read", { path: "none" }, "not_found"],
    ["fs.read", { path: "d" }, "not_a_file"],
    ["fs.read", { path: "f/x" }, "not_a_directory"],
    ["fs.read", { path: "a\0b" }, "invalid_path"],
    ["fs.read", {}, "invalid_arguments"],
    ["fs.read", { path: 7 }, "invalid_arguments"],
    ["fs.read", { path: "f", max_bytes: 1e9 }, "invalid_arguments"],
    ["fs.write", { path: "d", content: "" }, "not_a_file"],
    ["fs.write", { path: "/workspace", content: "" }, "not_a_file"],
    ["fs.write", { path: "no/f", content: "", create_parents: false }, "not_found"],
    ["fs.write", { path: "f", content: "***", encoding: "base64" }, "invalid_arguments"],
    ["fs.create_dir", { path: "f" }, "already_exists"],
    ["fs.create_dir", { path: "/workspace" }, "forbidden"],
    ["fs.delete", { path: "/workspace" }, "forbidden"],
    ["fs.delete", { path: "/workspace", recursive: true }, "forbidden"],
    ["fs.delete", { path: "d" }, "not_empty"],
    ["fs.delete", { path: "none", recursive: true }, "not_found"],
    ["fs.list", { path: "f" }, "not_a_directory"],
    ["fs.grep", { pattern: "(" }, "invalid_arguments"],
    ["fs.nothing", {}, "not_found"],
  ])("%s %j fails with %s", async (name, given, expected) => {
    mkdirSync(join(at.host, "d"));
    writeFileSync(join(at.host, "d/inner"), "");
    writeFileSync(join(at.host, "f"), "content");
    expect(await code(name, given)).toBe(expected);
  });

  test("what is too long is refused", async () => {
    expect(await code("fs.read", { path: "x".repeat(300) })).toBe("invalid_path");
    expect(await code("fs.read", { path: "x/".repeat(3000) })).toBe("invalid_path");
    expect(await code("fs.write", { path: "big", content: "x".repeat(10 * 1024 * 1024 + 1) })).toBe("file_too_large");
  });

  test("a pipe is not waited for", async () => {
    Bun.spawnSync(["mkfifo", join(at.host, "pipe")]);
    expect(await code("fs.read", { path: "pipe" })).toBe("not_a_file");
    expect(await code("fs.write", { path: "pipe", content: "x", mode: "append" })).toBe("not_a_file");
  });
});

describe("edit", () => {
  test("replaces the one occurrence and leaves only the new bytes", async () => {
    writeFileSync(join(at.host, "f"), "\uFEFFone $& two");
    expect(await ok("fs.edit", { path: "f", target_content: "one $& ", replacement_content: "$1" })).toEqual({
      path: "/workspace/f",
      replacements: 1,
    });
    expect(readFileSync(join(at.host, "f"), "utf8")).toBe("\uFEFF$1two");
  });

  test("two matches or none change nothing", async () => {
    writeFileSync(join(at.host, "f"), "a a");
    expect(await code("fs.edit", { path: "f", target_content: "a", replacement_content: "" })).toBe("multiple_matches");
    expect(await code("fs.edit", { path: "f", target_content: "z", replacement_content: "" })).toBe("no_match");
    expect(readFileSync(join(at.host, "f"), "utf8")).toBe("a a");
    expect(
      await ok("fs.edit", { path: "f", target_content: "a", replacement_content: "b", replace_all: true }),
    ).toMatchObject({ replacements: 2 });
  });

  test("multi_edit is all or nothing", async () => {
    writeFileSync(join(at.host, "f"), "one two");
    const edits = [
      { target_content: "one", replacement_content: "1" },
      { target_content: "three", replacement_content: "3" },
    ];
    expect(await code("fs.multi_edit", { path: "f", edits })).toBe("no_match");
    expect(readFileSync(join(at.host, "f"), "utf8")).toBe("one two");
    edits[1] = { target_content: "1 two", replacement_content: "done" };
    expect(await ok("fs.multi_edit", { path: "f", edits })).toEqual({ path: "/workspace/f", edits_applied: 2 });
    expect(readFileSync(join(at.host, "f"), "utf8")).toBe("done");
  });

  test("edits that look through much of a file leave this process awake", async () => {
    const text = `${"x".repeat(3_000_000)}\nend`;
    writeFileSync(join(at.host, "f"), text);
    const edits = Array.from({ length: 300 }, (_, index) => ({
      target_content: index === 0 ? "end" : `end ${index - 1}.`,
      replacement_content: `end ${index}.`,
    }));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    expect(await ok("fs.multi_edit", { path: "f", edits })).toMatchObject({ edits_applied: 300 });
    expect(
      await ok("fs.edit", { path: "f", target_content: "x", replacement_content: "y", replace_all: true }),
    ).toEqual({
      path: "/workspace/f",
      replacements: 3_000_000,
    });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
    expect(readFileSync(join(at.host, "f"), "utf8")).toBe(`${"y".repeat(3_000_000)}\nend 299.`);
  });
});

/** Takes hundreds of steps for each character of `hardText`. */
const slow = "a[ab]{900}[cd]";
const disorder = Array.from({ length: 20_000 }, (_, index) => Bun.hash(`${index}`).toString(2)).join("");
const hardText = disorder.replaceAll("0", "a").replaceAll("1", "b");

describe("trees", () => {
  beforeEach(() => {
    mkdirSync(join(at.host, "src/deep"), { recursive: true });
    writeFileSync(join(at.host, "src/a.ts"), "alpha\nBeta\n");
    writeFileSync(join(at.host, "src/deep/b.ts"), "beta\r\n");
    writeFileSync(join(at.host, "src/c.bin"), Buffer.from([0, 1, 2]));
    symlinkSync(at.outside, join(at.host, "src/out"));
  });

  test("list shows what is there and follows no link", async () => {
    const flat = await ok("fs.list", { path: "src" });
    expect(flat).toMatchObject({ path: "/workspace/src", count: 4, truncated: false });
    expect(flat.entries).toMatchObject([
      { name: "a.ts", path: "/workspace/src/a.ts", file_type: "file", size_bytes: 11 },
      { name: "c.bin" },
      { name: "deep", file_type: "directory" },
      { name: "out", file_type: "symlink" },
    ]);
    const all = await ok("fs.list", { recursive: true });
    expect((all.entries as { path: string }[]).map((entry) => entry.path)).toEqual([
      "/workspace/src",
      "/workspace/src/a.ts",
      "/workspace/src/c.bin",
      "/workspace/src/deep",
      "/workspace/src/deep/b.ts",
      "/workspace/src/out",
    ]);
    expect(await ok("fs.list", { recursive: true, limit: 2 })).toMatchObject({ count: 2, truncated: true });
  });

  test("glob and grep find by name and by line", async () => {
    expect(await ok("fs.glob", { pattern: "**/*.ts" })).toEqual({
      matches: ["/workspace/src/a.ts", "/workspace/src/deep/b.ts"],
      count: 2,
      truncated: false,
    });
    expect(await ok("fs.grep", { pattern: "^beta$", case_sensitive: false })).toEqual({
      matches: [
        { file: "/workspace/src/a.ts", line_number: 2, line: "Beta" },
        { file: "/workspace/src/deep/b.ts", line_number: 1, line: "beta" },
      ],
      count: 2,
      truncated: false,
    });
    expect(await ok("fs.grep", { pattern: "beta", include: "a.*" })).toMatchObject({ count: 0 });
    expect(await ok("fs.grep", { pattern: "alpha", path: "src/a.ts" })).toMatchObject({ count: 1 });
  });

  test("delete removes the link, not what it points to", async () => {
    await ok("fs.delete", { path: "src/out" });
    expect(existsSync(join(at.host, "src/out"))).toBe(false);
    symlinkSync(at.outside, join(at.host, "src/out"));
    expect(await ok("fs.delete", { path: "src", recursive: true })).toEqual({ path: "/workspace/src", deleted: true });
    expect(readdirSync(at.host)).toEqual([]);
    expect(readFileSync(join(at.outside, "secret"), "utf8")).toBe("secret");
  });

  test("a thousand matches are the bound", async () => {
    writeFileSync(join(at.host, "many"), "x\n".repeat(1500));
    expect(await ok("fs.grep", { pattern: "x", path: "many" })).toMatchObject({ count: 1000, truncated: true });
  });

  test("a pattern that would backtrack for ever is answered", async () => {
    writeFileSync(join(at.host, "f"), `${"a".repeat(5000)}!`);
    expect(await ok("fs.grep", { pattern: "^(a+)+$", path: "f" })).toMatchObject({ count: 0 });
    expect(await code("fs.grep", { pattern: "(a)\\1", path: "f" })).toBe("invalid_arguments");
  });

  test("a search that takes too long ends in a timeout while this process stays awake", async () => {
    writeFileSync(join(at.host, "f"), hardText);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 50);
    expect(await code("fs.grep", { pattern: slow, path: "f" })).toBe("timeout");
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  test("an abandoned call rejects", async () => {
    writeFileSync(join(at.host, "f"), hardText);
    const abort = new AbortController();
    const pending = call("fs.grep", { pattern: slow, path: "f" }, abort.signal);
    setTimeout(() => abort.abort("abandoned"), 100);
    expect(await pending.catch((reason) => reason)).toBe("abandoned");
  });
});
