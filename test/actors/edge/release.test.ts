/** Release files of the edge program (docs/reference/edge-cli.md). */
import { expect, test } from "bun:test";
import { judgeRelease, readRelease, readReleaseFile } from "../../../actors/edge/release.ts";
import { vector } from "./vectors.ts";

const { file_text: text, b } = vector("E9");
const release = readRelease(b);
if (release === null) throw new Error("the published release cannot be read");
const running = {
  version: "0.1.0",
  os: "linux",
  arch: "x86_64",
  now: Date.parse("2031-05-01T00:00:00Z"),
  allowDowngrade: false,
};

test("the published release file is read as it was written", () => {
  const file = readReleaseFile(text);
  expect([file?.b, file?.kid, file?.signature.length]).toEqual([b, "release-1", 64]);
  expect([release.version, release.files[0]?.size]).toEqual(["0.2.0", 52428800]);
});

test.each([
  ["a newer one", {}, "newer"],
  ["the same", { version: "0.2.0" }, "current"],
  ["the same, but for its build", { version: "0.2.0+7" }, "current"],
  ["an older one", { version: "0.3.0" }, "older"],
  ["the end of a preview", { version: "0.2.0-rc.1" }, "newer"],
  ["an older one, where that is allowed", { version: "0.3.0", allowDowngrade: true }, "downgrade"],
  ["one that has expired", { now: Date.parse("2031-07-01T08:00:00Z") }, "expired"],
  ["an expired one of today's version", { version: "0.2.0", now: Date.parse("2031-08-01T00:00:00Z") }, "expired"],
  ["one for other machines", { arch: "aarch64" }, "no_file"],
  ["one for other systems", { os: "macos" }, "no_file"],
])("%s: what it means to the program", (_, change, kind) => {
  expect(judgeRelease(release, { ...running, ...change }).kind).toBe(kind as "newer");
});

test("what is no release is refused", () => {
  const written = (change: object) => JSON.stringify({ ...JSON.parse(b), ...change });
  const file = (change: object) => written({ files: [{ ...release.files[0], ...change }] });
  const bad = [
    ...["", "[]", "null", "{}", "{".repeat(100)],
    ...[{ version: "1" }, { version: "01.2.3" }, { expires_at: "soon" }, { files: [] }].map(written),
    ...[{ size: 0 }, { size: 1.5 }, { size: 2 ** 40 }, { sha256: "AA" }, { url: "" }, { os: "windows" }].map(file),
  ];
  expect(bad.filter((each) => readRelease(each) !== null)).toEqual([]);
  for (const each of ["", "[]", JSON.stringify({ b, kid: "x" }), JSON.stringify({ b, kid: "", sig: "AAAA" })])
    expect(readReleaseFile(each)).toBeNull();
});
