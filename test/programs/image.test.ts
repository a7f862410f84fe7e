/** The image and its compose file: what bubblewrap needs inside a container (docs/guide/compose.md), in real containers. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { readBuilt } from "../../src/features/console/files.ts";
import { podman } from "../harness/outside/podman.ts";
import { scratch } from "../harness/scratch.ts";

const root = join(import.meta.dir, "../..");
const engine = await podman();
const composed = parse(readFileSync(join(root, "docker-compose.yml"), "utf8")).services.svc;

/** Options of `podman run` for what the compose file says of the service. */
function securityOptions(leftOut: string | null): string[] {
  const written: string[] = composed.security_opt;
  const options = written
    // An engine without AppArmor does not know the option.
    .filter((option) => !option.startsWith("apparmor") && option !== leftOut)
    .map((option) =>
      option.replace("seccomp:", `seccomp=${root}/`).replace("no-new-privileges:true", "no-new-privileges"),
    );
  return [
    ...composed.cap_drop.map((name: string) => `--cap-drop=${name}`),
    ...options.flatMap((option) => ["--security-opt", option]),
  ];
}

/** This host's programs and libraries in place of those of the image's base. */
const host = ["/usr:/usr", "/usr/lib:/lib", "/usr/lib64:/lib64", `${root}:/srv/svc`].flatMap((bind) => [
  "-v",
  `${bind}:ro`,
]);
const program = ["node_modules/.bin/bun", "test/programs/image-program.ts"];

describe.skipIf(engine === null)("the image", () => {
  const run = (leftOut: string | null) =>
    engine?.run([...securityOptions(leftOut), ...host, "-u", "1000", "-w", "/srv/svc", engine.bare, ...program]);

  test("holds agents under bubblewrap with the options of the compose file, without root", async () => {
    const ended = await run(null);
    const report = JSON.parse(ended?.out.trim().split("\n").at(-1) ?? "null");
    expect(report).toMatchObject({
      sandbox: "bubblewrap",
      egressEnforced: true,
      exit: { reason: "exited", exitCode: 0 },
    });
    expect(report.exit.stdout).toMatch(/^1000\n\d\nheld\n$/);
    expect(report.unenforcedLimits).toEqual(["cpu", "processes", "kernel_memory"]);
  }, 60_000);

  test("refuses to start without them, and says what bubblewrap said", async () => {
    const ended = await run("systempaths=unconfined");
    expect(ended?.code).not.toBe(0);
    expect(ended?.err).toMatch(
      /Nothing here can hold agents: .*\(bwrap: .*Operation not permitted\).*docker-compose\.yml/,
    );
  }, 60_000);
});

test("the image is made with the console in it, as the node looks for it", async () => {
  const folder = join(root, "dist/console");
  const [program = "", ...rest] =
    readFileSync(join(root, "Dockerfile"), "utf8")
      .match(/RUN (.*console.*)/)?.[1]
      ?.split(" ") ?? [];
  expect(join(root, rest.at(-1) ?? "")).toBe(folder);
  const beside = scratch("image-console");
  const built = Bun.spawnSync([program, ...rest.slice(0, -1), join(beside, "console")], { cwd: root });
  expect(built.exitCode).toBe(0);
  expect((await readBuilt(join(beside, "console")))?.files.size).toBeGreaterThan(20);
}, 60_000);

test.each([
  [200, 0],
  [503, 1],
])("the health check of the image exits for %i with %i", async (status, code) => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(null, { status: new URL(url).pathname === "/health/ready" ? status : 404 }),
  });
  const command = readFileSync(join(root, "Dockerfile"), "utf8").match(/CMD (\["node_modules.*health.*"\])/)?.[1];
  const child = Bun.spawn(JSON.parse(command ?? "[]"), { cwd: root, env: { SVC_PORT: String(server.port) } });
  expect(await child.exited).toBe(code);
  await server.stop(true);
});
