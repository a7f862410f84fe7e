import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gatherRuntime, interpreterOf, runtimeCommand } from "../../../../src/adapters/sandbox/docker/runtime-files.ts";
import { scratch } from "../../../harness/scratch.ts";

describe.skipIf(process.platform !== "linux")("what our programs need in any image", () => {
  test("is gathered once, and runs from there with nothing else", async () => {
    const programs = scratch("runtime");
    const names = await Promise.all([gatherRuntime(programs), gatherRuntime(programs)]);
    expect(names[0]).toBe(names[1] ?? "");
    expect(await gatherRuntime(programs)).toBe(names[0] ?? "");
    expect(readdirSync(programs)).toEqual([names[0] ?? ""]);
    const command = runtimeCommand(join(programs, names[0] ?? ""), interpreterOf(process.execPath) !== null);
    writeFileSync(join(programs, "t.js"), "console.log(6 * 7)");
    const child = Bun.spawnSync([...command, "--no-env-file", join(programs, "t.js")], { env: {} });
    expect(child.stdout.toString()).toBe("42\n");
  });

  test("a file that is no program of this kind is refused", () => {
    const file = join(scratch("runtime"), "text");
    writeFileSync(file, "#!/bin/sh\n");
    expect(() => interpreterOf(file)).toThrow("no 64-bit");
    mkdirSync(`${file}.d`);
    expect(gatherRuntime(`${file}.d`, file)).rejects.toThrow("no 64-bit");
  });
});
