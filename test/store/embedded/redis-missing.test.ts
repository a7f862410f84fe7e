import { afterAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "svc-redis-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a node whose PATH holds only the given programs; it leaves as soon as it has joined. */
async function run(name: string, programs: Record<string, string>) {
  const path = join(folder, name);
  mkdirSync(path);
  for (const program of ["setpriv", "useradd", "env", "ln", "cp", "chmod", "ps"]) {
    const real = Bun.which(program);
    if (real !== null) symlinkSync(real, join(path, program));
  }
  for (const [program, script] of Object.entries(programs)) {
    writeFileSync(join(path, program), script);
    chmodSync(join(path, program), 0o755);
  }
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "node-program.ts"), join(folder, `${name}-data`)], {
    env: { PATH: path },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode: child.exitCode, path };
}

test("without Redis and without a package manager one sentence says what to install", async () => {
  const { stderr, exitCode } = await run("bare", {});
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "redis-server is not on PATH: install Redis 7 or newer (Debian: apt-get install redis-server",
  );
});

test("a package manager that fails ends in the same sentence", async () => {
  const { stderr, exitCode } = await run("failing", { brew: "#!/bin/sh\nexit 1\n" });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("redis-server is not on PATH");
});

test.if(process.getuid?.() === 0)("as root the system's package manager installs it", async () => {
  const installer = `#!/bin/sh
echo "$@" >> ${folder}/calls
case "$1" in install) ln -s ${Bun.which("redis-server")} "\${0%/*}/redis-server";; esac
`;
  const { stdout, exitCode } = await run("debian", { "apt-get": installer });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ started: true });
  const calls = (await Bun.file(join(folder, "calls")).text()).trim().split("\n");
  expect(calls[0]).toStartWith("update");
  expect(calls[1]).toMatch(/^install .*redis-server$/);
  expect(existsSync(join(folder, "debian/redis-server"))).toBe(true);
});
