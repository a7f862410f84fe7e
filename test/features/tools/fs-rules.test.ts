/** Allowlists of paths hold for what a path really leads to (docs/reference/gateway.md). */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolOutcome } from "../../../src/features/tools/port.ts";
import { at, openWorkspace, tools } from "./fixture.ts";
import { requestOf } from "./request.ts";

openWorkspace();

function call(
  name: string,
  given: Record<string, unknown>,
  pathRules: readonly (readonly string[])[],
  maxResponseBytes = 10_485_760,
): Promise<ToolOutcome> {
  const bounds = { maxTimeoutSecs: 3600, maxResponseBytes, pathRules, domainRules: [] };
  return tools.call(requestOf(name, given, { bounds }));
}

const refused = (violation_type: string) => ({
  status: "refused",
  error_code: 2002,
  code: "path_not_allowed",
  violation_type,
});
const rules = [["/workspace/open"], ["/workspace"]];

function lay(): void {
  mkdirSync(join(at.host, "open/deep"), { recursive: true });
  mkdirSync(join(at.host, "closed"));
  writeFileSync(join(at.host, "open/a.txt"), "a");
  writeFileSync(join(at.host, "closed/s.txt"), "secret");
}

test("each allowlist has to cover the path, and a link leads to no other", async () => {
  lay();
  symlinkSync("../closed", join(at.host, "open/out"));
  symlinkSync("/workspace/closed/s.txt", join(at.host, "open/s.txt"));
  symlinkSync("/etc", join(at.host, "open/etc"));
  expect(await call("fs.read", { path: "open/a.txt" }, rules)).toMatchObject({ status: "succeeded" });
  expect(await call("fs.read", { path: "closed/s.txt" }, rules)).toMatchObject(refused("path_outside_boundary"));
  expect(await call("fs.read", { path: "open/a.txt" }, [...rules, []])).toMatchObject(refused("path_outside_boundary"));
  for (const path of ["open/s.txt", "open/out/s.txt", "open/etc/passwd"]) {
    expect(await call("fs.read", { path }, rules)).toMatchObject(refused("path_traversal_attempt"));
  }
  for (const [name, more] of [
    ["fs.write", { content: "x" }],
    ["fs.edit", { target_content: "s", replacement_content: "x" }],
    ["fs.delete", {}],
  ] as const) {
    expect(await call(name, { path: "open/out/s.txt", ...more }, rules)).toMatchObject(
      refused("path_traversal_attempt"),
    );
  }
  for (const name of ["fs.list", "fs.glob", "fs.grep"]) {
    const given = { path: "open/out", pattern: "s" };
    expect(await call(name, given, rules)).toMatchObject(refused("path_traversal_attempt"));
  }
  expect(readFileSync(join(at.host, "closed/s.txt"), "utf8")).toBe("secret");
});

test("walks show, search and remove only what the allowlists cover", async () => {
  lay();
  const some = [
    ["/workspace", "/workspace/**"],
    ["/workspace/open", "/workspace/*.md"],
  ];
  writeFileSync(join(at.host, "n.md"), "secret");
  expect(await call("fs.list", { path: "/workspace" }, some)).toMatchObject(refused("path_outside_boundary"));
  const flat = [["/workspace/op*"]];
  expect(await call("fs.list", { path: "open", recursive: true }, flat)).toMatchObject({ result: { count: 0 } });
  expect(await call("fs.grep", { path: "open", pattern: "." }, flat)).toMatchObject({ result: { count: 0 } });
  expect(await call("fs.delete", { path: "open", recursive: true }, flat)).toMatchObject({ code: "path_not_allowed" });
  expect(readFileSync(join(at.host, "open/a.txt"), "utf8")).toBe("a");
});

test("no swap of a directory for a link lets a call through, either way", async () => {
  lay();
  const here = join(at.host, "open/d");
  mkdirSync(here);
  writeFileSync(join(here, "s.txt"), "mine");
  const swap = `
    const fs = require("node:fs");
    for (;;) {
      fs.renameSync("d", "kept"); fs.symlinkSync("../closed", "d"); fs.rmSync("d"); fs.renameSync("kept", "d");
    }`;
  const swapping = Bun.spawn([process.execPath, "-e", swap], { cwd: join(at.host, "open"), stderr: "ignore" });
  const seen = new Set<string>();
  try {
    for (let round = 0; round < 3_000 && (round < 400 || seen.size < 2); round += 1) {
      const read = await call("fs.read", { path: "open/d/s.txt" }, rules);
      await call("fs.write", { path: "open/d/s.txt", content: "mine", create_parents: false }, rules);
      if (read.status === "succeeded") expect(read.result.content).toBe("mine");
      seen.add(read.status === "succeeded" ? "read" : read.code);
    }
  } finally {
    swapping.kill("SIGKILL");
    await swapping.exited;
  }
  expect(seen.size).toBeGreaterThan(1);
  expect(readFileSync(join(at.host, "closed/s.txt"), "utf8")).toBe("secret");
});

test("what is longer than the policy lets through is cut and says so", async () => {
  lay();
  writeFileSync(join(at.host, "open/long"), "ä".repeat(500));
  writeFileSync(join(at.host, "open/bytes"), Buffer.alloc(500, 0xff));
  const all = [["/workspace"]];
  const text = await call("fs.read", { path: "open/long" }, all, 101);
  expect(text).toMatchObject({ result: { content: "ä".repeat(50), truncated: true, size_bytes: 1000 } });
  const bytes = await call("fs.read", { path: "open/bytes" }, all, 100);
  expect(bytes).toMatchObject({ result: { content: Buffer.alloc(100, 0xff).toString("base64"), truncated: true } });
  expect(await call("fs.list", { path: "open" }, all, 150)).toMatchObject({ result: { count: 1, truncated: true } });
  expect(await call("fs.grep", { path: "open", pattern: "." }, all, 10)).toMatchObject({
    result: { matches: [], count: 0, truncated: true },
  });
});

test("an edit that shrinks a file leaves only the new bytes; two matches fail", async () => {
  lay();
  const all = [["/workspace"]];
  const file = join(at.host, "open/f");
  writeFileSync(file, `start ${"long ".repeat(2_000)}end`);
  const given = { path: "open/f", target_content: "long ", replacement_content: "" };
  expect(await call("fs.edit", given, all)).toMatchObject({ status: "failed", code: "multiple_matches" });
  expect(readFileSync(file, "utf8")).toHaveLength(6 + 10_000 + 3);
  expect(await call("fs.edit", { ...given, replace_all: true }, all)).toMatchObject({
    result: { replacements: 2_000 },
  });
  expect(readFileSync(file, "utf8")).toBe("start end");
});
