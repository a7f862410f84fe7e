/** Starting and stopping a node as a process: help, refusals, the banner, signals. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

// The preload sets it for the first file of a run only.
setDefaultTimeout(30_000);

const root = join(import.meta.dir, "../..");
let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());

async function main(args: readonly string[], env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, join(root, "src/main.ts"), ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

test("--help prints every setting", async () => {
  const { out, code } = await main(["--help"], {});
  expect(code).toBe(0);
  for (const name of ["SVC_MODE", "SVC_PORT", "DATABASE_URL", "SVC_DRAIN_SECONDS"]) expect(out).toContain(name);
});

test("production without stores and realms does not start, and says everything that is missing", async () => {
  const { err, code } = await main([], { SVC_MODE: "production", SVC_PORT: "eighty" });
  expect(code).toBe(1);
  for (const name of ["DATABASE_URL", "REDIS_URL", "SVC_AUTH_REALMS", "SVC_PORT"]) expect(err).toContain(name);
  expect(err).not.toContain("    at ");
});

test("the banner says where it is and what to type", async () => {
  const node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "silent" } });
  await until(() => node.output.includes(`http://localhost:${node.port}`), { what: "the banner" });
  expect(node.output).toContain("npm run -s agent -- run src/agents/sample/hello-agent.yaml");
  expect(node.output).toContain("scripted");
  expect((await node.call("GET", "/health/ready")).body.status).toBe("ready");
  expect(await node.stop("SIGINT")).toBe(0);
  await node.dispose();
});
