/** A PgBouncer of a test's own, in transaction mode, before the test stores. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOrInstall } from "../../src/lib/processes/system-package.ts";
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { until } from "../harness/until.ts";

const isRoot = process.getuid?.() === 0;

/** Null where it is not there and cannot be installed. */
export const pgBouncer = await findOrInstall({
  program: "pgbouncer",
  packages: { apt: "pgbouncer", brew: "pgbouncer" },
  path: `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin`,
  root: isRoot,
  log: (line) => console.error(line),
});

export interface Pooler {
  /** The same database by way of the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** @param url with the role's user and password */
export async function startPooler(url: string, poolSize = 8): Promise<Pooler> {
  if (pgBouncer === null) throw new Error("PgBouncer is missing");
  const { hostname, port, username, password, pathname } = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), "svc-pgbouncer-"));
  const own = await freePort();
  writeFileSync(join(folder, "users.txt"), `"${username}" "${password}"\n`, { mode: 0o644 });
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    [
      "[databases]",
      `* = host=${hostname} port=${port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${own}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${join(folder, "users.txt")}`,
      "pool_mode = transaction",
      `default_pool_size = ${poolSize}`,
      "max_client_conn = 200",
      "",
    ].join("\n"),
    { mode: 0o644 },
  );
  // It refuses to run as root, and reads its files as the other user.
  Bun.spawnSync(["chmod", "755", folder]);
  const child = Bun.spawn([pgBouncer, ...(isRoot ? ["-u", "nobody"] : []), join(folder, "pgbouncer.ini")], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const through = `postgres://${username}:${password}@127.0.0.1:${own}${pathname}`;
  const sql = openPostgres({ url: through, schema: "", poolSize: 1, pooled: true });
  await until(async () => (await sql`select 1`).length === 1, { what: "PgBouncer to answer" });
  await sql.end({ timeout: 1 });
  return {
    url: through,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = address !== null && typeof address === "object" ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
