/** The startup script's runner on its own: its time, its lines, and how its failure is read back. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { startupFailedCode, startupFailure } from "../../src/programs/startup.ts";
import { scratch } from "../harness/scratch.ts";

const runner = join(import.meta.dir, "../../src/programs/startup.ts");

async function run(script: string, limitMs = 20_000) {
  const workspace = scratch("startup");
  const file = join(workspace, "script");
  await Bun.write(file, script);
  const options = { file, environment: { PATH: "/usr/bin:/bin" }, workspace, limitMs };
  const source = `import { runStartup } from ${JSON.stringify(runner)};
    console.log(await runStartup(${JSON.stringify(options)})); process.exit(0);`;
  const child = Bun.spawn([process.execPath, "-e", source], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { done: stdout.trim() === "true", stderr };
}

test("one that takes too long is ended with all its children, and the failure says so", async () => {
  const { done, stderr } = await run("echo waiting >&2; sleep 3411 & sleep 3412; echo never", 300);
  expect(done).toBe(false);
  expect(stderr).not.toContain("never");
  expect(startupFailure(startupFailedCode, stderr)).toBe("The startup script took longer than 0.3 s: waiting");
});

test("a process left in the background does not hold it up", async () => {
  // Longer than the test may take.
  expect((await run("setsid sleep 33 & echo on")).done).toBe(true);
});

test("lines without end are broken, and every one of them is marked", async () => {
  const { done, stderr } = await run("head -c 100000 /dev/zero | tr '\\0' x; echo; printf end");
  expect(done).toBe(true);
  const lines = stderr.trimEnd().split("\n");
  expect(lines.every((line) => line.startsWith("[BOOTSTRAP STARTUP] ") && line.length < 5_000)).toBe(true);
  expect(lines.join("").replaceAll("[BOOTSTRAP STARTUP] ", "")).toBe(`${"x".repeat(100_000)}end`);
});

test("a failure keeps only the last of a long standard error", async () => {
  const { stderr } = await run("for i in $(seq 3000); do echo line $i >&2; done; exit 2");
  const failure = startupFailure(startupFailedCode, stderr) ?? "";
  expect(failure).toStartWith("The startup script exited with 2: ");
  expect(failure).toEndWith("line 3000");
  expect(failure.length).toBeLessThan(2_200);
});

test("no text of a program makes a failure where the exit code is another, nor throws", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 0, max: 255 }), (text, code) => {
      const stderr = `[BOOTSTRAP STARTUP_FAILED] ${text}`;
      const failure = startupFailure(code, stderr);
      if (code !== startupFailedCode) expect(failure).toBe(null);
    }),
  );
  expect(startupFailure(startupFailedCode, "[BOOTSTRAP STARTUP_FAILED] null")).toBe(null);
  expect(startupFailure(startupFailedCode, "[BOOTSTRAP STARTUP_FAILED] {")).toBe(null);
  expect(startupFailure(null, "")).toBe(null);
});
