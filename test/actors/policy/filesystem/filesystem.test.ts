/** Filesystem patterns, the exact policy, and what mounts can do of it (docs/reference/volumes.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isWithin, mountPoints, type VolumePlace, volumeOf } from "../../../../actors/policy/filesystem/mounts.ts";
import { covers, leadsTo, readPattern, segmentsOf } from "../../../../actors/policy/filesystem/pattern.ts";
import { type FilesystemRules, filesystemPolicy } from "../../../../actors/policy/filesystem/policy.ts";
import { cpuTimeOf } from "../../../harness/cpu-time.ts";

const pattern = (text: string) => {
  const read = readPattern(text);
  if (read === null) throw new Error(`${text} is no pattern`);
  return read;
};
const rules = (change: Partial<FilesystemRules>): FilesystemRules => ({
  read: [],
  write: [],
  read_only: false,
  ...change,
});

describe("patterns", () => {
  test.each([
    ["/workspace/out", "/workspace/out", "covers"],
    ["/workspace/out", "/workspace/out/a/b", "covers"],
    ["/workspace/out/", "/workspace//out/./a", "covers"],
    ["/workspace/out", "/workspace/output", "apart"],
    ["/workspace/out", "/workspace", "above"],
    ["/workspace/*.csv", "/workspace/a.csv", "covers"],
    ["/workspace/*.csv", "/workspace/a.csv/inner", "covers"],
    ["/workspace/*.csv", "/workspace/d/a.csv", "apart"],
    ["/workspace/*/a", "/workspace/d", "above"],
    ["/workspace/*/a", "/workspace/d/a", "covers"],
    ["/workspace/**/a", "/workspace/a", "covers"],
    ["/workspace/**/a", "/workspace/x/y/a/z", "covers"],
    ["/workspace/**/a", "/workspace/x/y", "above"],
    ["/workspace/**", "/workspace", "covers"],
    ["/**", "/workspace/x", "covers"],
    ["/", "/workspace/x", "covers"],
    ["/workspace/a*b*c", "/workspace/aXbYc", "covers"],
    ["/workspace/a*b*c", "/workspace/aXbY", "apart"],
    ["/workspace/a?c", "/workspace/abc", "apart"],
    ["/workspace/[a]", "/workspace/a", "apart"],
  ])("%s and %s: %s", (text, path, relation) => {
    const segments = segmentsOf(path);
    const found = covers(pattern(text), segments) ? "covers" : leadsTo(pattern(text), segments) ? "above" : "apart";
    expect(found).toBe(relation);
  });

  test.each(["out", "", "/a/../b", "/a\0", `/${"x".repeat(5000)}`, "/a".repeat(65)])("%j is none", (text) => {
    expect(readPattern(text)).toBeNull();
  });

  test("many stars take no long time", () => {
    const hostile = pattern(`/${"a*".repeat(2000)}b`);
    const deep = pattern(`${"/**/*".repeat(32)}`);
    const far = Array.from({ length: 2000 }, () => "x");
    expect(cpuTimeOf(() => expect(covers(hostile, ["a".repeat(4000)])).toBe(false))).toBeLessThan(2000);
    expect(cpuTimeOf(() => covers(deep, far))).toBeLessThan(2000);
  });
});

const name = fc.constantFrom("a", "b", "c.txt", "out");
const path = fc.array(name, { maxLength: 4 }).map((names) => `/workspace${names.map((part) => `/${part}`).join("")}`);
const wild = fc
  .array(fc.oneof(name, fc.constantFrom("*", "**", "*.txt", "o*")), { maxLength: 4 })
  .map((names) => `/workspace${names.map((part) => `/${part}`).join("")}`);
const anyRules = fc.record({
  read: fc.array(wild, { maxLength: 3 }),
  write: fc.array(wild, { maxLength: 3 }),
  read_only: fc.boolean(),
});
const anyVolumes = fc
  .uniqueArray(
    fc.record({ mount_path: path, access_mode: fc.constantFrom("read-only" as const, "read-write" as const) }),
    { maxLength: 3, selector: ({ mount_path }) => mount_path },
  )
  .map((volumes): VolumePlace[] =>
    volumes.some(({ mount_path }) => mount_path === "/workspace")
      ? volumes
      : [{ mount_path: "/workspace", access_mode: "read-write" }, ...volumes],
  );

describe("the exact policy", () => {
  test("write implies read, read-only beats write, what is readable can be seen", () => {
    fc.assert(
      fc.property(anyRules, path, (given, at) => {
        const policy = filesystemPolicy(given);
        if (policy.mayWrite(at)) expect(policy.mayRead(at)).toBe(true);
        if (policy.mayRead(at)) expect(policy.maySee(at)).toBe(true);
        if (given.read_only) expect(policy.mayWrite(at)).toBe(false);
      }),
    );
  });

  test("a directory covers its subtree, and the way to what is readable can be seen", () => {
    fc.assert(
      fc.property(anyRules, path, name, (given, at, child) => {
        const policy = filesystemPolicy(given);
        const below = `${at}/${child}`;
        if (policy.mayRead(at)) expect(policy.mayRead(below)).toBe(true);
        if (policy.mayWrite(at)) expect(policy.mayWrite(below)).toBe(true);
        if (policy.maySee(below)) expect(policy.maySee(at)).toBe(true);
      }),
    );
  });

  test("empty lists leave everything to the access modes", () => {
    const policy = filesystemPolicy(rules({}));
    expect([policy.mayRead("/workspace/x"), policy.mayWrite("/workspace/x")]).toEqual([true, true]);
  });

  test("a write list alone hides nothing; a read list alone leaves writing within it", () => {
    const writer = filesystemPolicy(rules({ write: ["/workspace/out"] }));
    expect([writer.mayRead("/workspace/in"), writer.mayWrite("/workspace/in")]).toEqual([true, false]);
    const reader = filesystemPolicy(rules({ read: ["/workspace/in"] }));
    expect([reader.mayWrite("/workspace/in/x"), reader.maySee("/workspace/other")]).toEqual([true, false]);
  });
});

describe("mount points", () => {
  const root: VolumePlace = { mount_path: "/workspace", access_mode: "read-write" };
  const shown = (volumes: readonly VolumePlace[], given: Partial<FilesystemRules>) =>
    mountPoints(volumes, rules(given)).map(({ target, access }) => `${target} ${access}`);

  test.each<[string, VolumePlace[], Partial<FilesystemRules>, string[]]>([
    ["no rules", [root], {}, ["/workspace read-write"]],
    ["read-only beats write", [root], { read_only: true, write: ["/workspace"] }, ["/workspace read-only"]],
    ["a writable part", [root], { write: ["/workspace/out"] }, ["/workspace read-only", "/workspace/out read-write"]],
    [
      "a wildcard counts up to itself",
      [root],
      { write: ["/workspace/out/*.csv"] },
      ["/workspace read-only", "/workspace/out read-write"],
    ],
    [
      "hidden but for parts",
      [root],
      { read: ["/workspace/in"], write: ["/workspace/in/new"] },
      ["/workspace hidden", "/workspace/in read-only", "/workspace/in/new read-write"],
    ],
    [
      "a read-only volume stays so",
      [root, { mount_path: "/workspace/data", access_mode: "read-only" }],
      { write: ["/workspace/data/x", "/workspace/out"] },
      ["/workspace read-only", "/workspace/out read-write", "/workspace/data read-only"],
    ],
    [
      "a hidden volume beside a visible one",
      [root, { mount_path: "/workspace/data", access_mode: "read-write" }],
      { read: ["/workspace/data"] },
      ["/workspace hidden", "/workspace/data read-write"],
    ],
    ["outside every volume", [root], { write: ["/etc"] }, ["/workspace read-only"]],
  ])("%s", (_, volumes, given, expected) => {
    expect(shown(volumes, given)).toEqual(expected);
  });

  test("every volume is there, parents first, none wider than its volume or prefixes", () => {
    fc.assert(
      fc.property(anyVolumes, anyRules, (volumes, given) => {
        const points = mountPoints(volumes, given);
        expect(volumes.every(({ mount_path }) => points.some(({ target }) => target === mount_path))).toBe(true);
        expect(new Set(points.map(({ target }) => target)).size).toBe(points.length);
        const prefixes = (list: readonly string[]) => list.map((text) => pattern(text).prefix);
        for (const [index, point] of points.entries()) {
          expect(points.slice(index + 1).some(({ target }) => isWithin(point.target, target))).toBe(false);
          const volume = volumeOf(volumes, point.target);
          expect(volume?.mount_path).toBe(point.volume);
          if (point.access !== "read-write") continue;
          expect(given.read_only || volume?.access_mode === "read-only").toBe(false);
          const allowed = given.write.length > 0 ? given.write : given.read;
          if (allowed.length > 0) {
            expect(prefixes(allowed).some((prefix) => isWithin(point.target, prefix))).toBe(true);
          }
        }
      }),
    );
  });

  test("without wildcards mounts and the exact policy agree", () => {
    const literal = fc.record({
      read: fc.array(path, { maxLength: 3 }),
      write: fc.array(path, { maxLength: 3 }),
      read_only: fc.boolean(),
    });
    fc.assert(
      fc.property(anyVolumes, literal, path, (volumes, given, at) => {
        const policy = filesystemPolicy(given);
        const point = mountPoints(volumes, given).findLast(({ target }) => isWithin(at, target));
        const writable = volumeOf(volumes, at)?.access_mode === "read-write" && policy.mayWrite(at);
        const expected = !policy.mayRead(at) ? "hidden" : writable ? "read-write" : "read-only";
        expect(point?.access).toBe(expected);
      }),
    );
  });
});
