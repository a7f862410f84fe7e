/** The fs.* tools: no path, link or race leads out of the workspace (docs/reference/gateway.md). */
import { describe, expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { at, call, code, ok, openWorkspace } from "./fixture.ts";

openWorkspace();

describe("nothing leads out", () => {
  const attempts: [string, Record<string, unknown>][] = [
    ["fs.read", { path: "/workspace/../etc/passwd" }],
    ["fs.read", { path: "../outside/secret" }],
    ["fs.read", { path: "/etc/passwd" }],
    ["fs.read", { path: "/workspacex/f" }],
    ["fs.read", { path: "etc/passwd" }],
    ["fs.read", { path: "up/outside/secret" }],
    ["fs.read", { path: "file" }],
    ["fs.read", { path: "chain/passwd" }],
    ["fs.write", { path: "etc/x", content: "" }],
    ["fs.write", { path: "file", content: "" }],
    ["fs.write", { path: "file", content: "", mode: "append" }],
    ["fs.edit", { path: "file", target_content: "s", replacement_content: "" }],
    ["fs.list", { path: "etc" }],
    ["fs.grep", { pattern: "root", path: "etc" }],
    ["fs.glob", { pattern: "*", path: "etc" }],
    ["fs.delete", { path: "etc/passwd" }],
    ["fs.delete", { path: "etc/passwd", recursive: true }],
    ["fs.create_dir", { path: "etc/x" }],
  ];
  test.each(attempts)("%s %j is refused with 2002", async (name, given) => {
    symlinkSync("/etc", join(at.host, "etc"));
    symlinkSync("../..", join(at.host, "up"));
    symlinkSync("../outside/secret", join(at.host, "file"));
    symlinkSync("etc", join(at.host, "chain"));
    expect(await call(name, given)).toMatchObject({ status: "refused", error_code: 2002, code: "path_not_allowed" });
    expect(readFileSync(join(at.outside, "secret"), "utf8")).toBe("secret");
  });

  test("links inside are followed, absolute ones too, and loops end", async () => {
    mkdirSync(join(at.host, "real"));
    writeFileSync(join(at.host, "real/f"), "x");
    symlinkSync("/workspace/real", join(at.host, "absolute"));
    symlinkSync("real/../real/./f", join(at.host, "relative"));
    symlinkSync("loop", join(at.host, "loop"));
    expect(await ok("fs.read", { path: "absolute/f" })).toMatchObject({ content: "x", path: "/workspace/absolute/f" });
    expect(await ok("fs.read", { path: "relative" })).toMatchObject({ content: "x" });
    await ok("fs.write", { path: "relative", content: "through" });
    expect(readFileSync(join(at.host, "real/f"), "utf8")).toBe("through");
    expect(await code("fs.read", { path: "loop" })).toBe("invalid_path");
  });

  test("a hard link is not written through", async () => {
    writeFileSync(join(at.outside, "mine"), "old");
    linkSync(join(at.outside, "mine"), join(at.host, "hard"));
    await ok("fs.write", { path: "hard", content: "+new", mode: "append" });
    expect(readFileSync(join(at.outside, "mine"), "utf8")).toBe("old");
    expect(readFileSync(join(at.host, "hard"), "utf8")).toBe("old+new");
  });

  test("a writer that keeps swapping a directory for a link gains nothing", async () => {
    mkdirSync(join(at.host, "d"));
    writeFileSync(join(at.host, "d/secret"), "inside");
    symlinkSync(at.outside, join(at.host, "l"));
    const moves = `const { renameSync: move } = require("node:fs"); process.chdir(${JSON.stringify(at.host)});
      for (;;) { move("d", "x"); move("l", "d"); move("d", "l"); move("x", "d"); }`;
    const swapper = Bun.spawn([process.execPath, "-e", moves], { stderr: "ignore" });
    const seen = new Set<string>();
    try {
      const until = performance.now() + 1500;
      while (performance.now() < until) {
        const outcome = await call("fs.read", { path: "d/secret" });
        seen.add(outcome.status === "succeeded" ? String(outcome.result.content) : outcome.status);
        await call("fs.write", { path: "d/planted", content: "x" });
      }
    } finally {
      swapper.kill("SIGKILL");
      await swapper.exited;
    }
    expect(seen.has("secret")).toBe(false);
    expect(seen.has("inside")).toBe(true);
    expect(existsSync(join(at.outside, "planted"))).toBe(false);
  });

  test("no descriptor is left open", async () => {
    const before = readdirSync("/proc/self/fd").length;
    symlinkSync("/etc", join(at.host, "etc"));
    for (let round = 0; round < 50; round++) {
      await call("fs.write", { path: "a/b/c/d/f", content: "x" });
      await call("fs.read", { path: "a/b/c/d/f" });
      await call("fs.read", { path: "a/b/c/d" });
      await call("fs.read", { path: "a/../etc/passwd" });
      await call("fs.edit", { path: "a/b/c/d/f", target_content: "nope", replacement_content: "" });
    }
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before + 2);
  });
});
