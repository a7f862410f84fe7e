/** Stores that speak TLS, with certificates of an authority of the test's own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JoinedStores, joinStores } from "../../src/store/embedded/stores.ts";
import { isDatabaseUnavailable, openPostgres } from "../../src/store/postgres/pool.ts";
import { DatabaseUrlFault, databaseTls, parseDatabaseUrl } from "../../src/store/postgres/url.ts";
import { reasonOf } from "../../src/store/reason.ts";
import { isRedisUnavailable, openRedis } from "../../src/store/redis/connections.ts";
import { freePorts } from "../harness/redis/server.ts";
import { until } from "../harness/until.ts";

setDefaultTimeout(60_000);

let folder: string;
let joined: JoinedStores;
let base: string;
let redisPort: number;
let redis: Bun.Subprocess;

const openssl = (...args: readonly string[]) => {
  const done = Bun.spawnSync(["openssl", ...args], { cwd: folder });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
};

/** A certificate for 127.0.0.1 and not for `localhost`, signed by `ca`. */
function makeCertificates(): void {
  const subject = ["-nodes", "-newkey", "rsa:2048", "-subj"];
  for (const ca of ["ca", "stranger"]) {
    openssl("req", "-x509", "-days", "2", ...subject, `/CN=${ca}`, "-keyout", `${ca}.key`, "-out", `${ca}.crt`);
  }
  openssl("req", ...subject, "/CN=db.test", "-keyout", "server.key", "-out", "server.csr");
  writeFileSync(join(folder, "names"), "subjectAltName=DNS:db.test,IP:127.0.0.1\n");
  const signing = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-days", "2"];
  openssl("x509", "-req", "-in", "server.csr", ...signing, "-out", "server.crt");
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-tls-"));
  makeCertificates();
  joined = await joinStores({ dataDir: folder, durable: false });
  base = joined.databaseUrl ?? "";
  const cluster = join(folder, "stores/postgres");
  const { uid, gid } = statSync(cluster);
  for (const name of ["server.crt", "server.key"]) {
    const path = join(cluster, name);
    writeFileSync(path, readFileSync(join(folder, name)), { mode: 0o600 });
    chownSync(path, uid, gid);
  }
  const sql = openPostgres({ url: base, schema: "public", poolSize: 1 });
  await sql.unsafe("alter system set ssl = on");
  await sql`select pg_reload_conf()`;
  await until(async () => (await sql`show ssl`)[0]?.ssl === "on");
  await sql.end({ timeout: 1 });
  const path = folder;
  [redisPort = 0] = await freePorts(1);
  redis = Bun.spawn(
    [
      "redis-server",
      ...["--port", "0", "--tls-port", String(redisPort), "--save", "", "--dir", path, "--tls-auth-clients", "no"],
      ...["--tls-cert-file", join(path, "server.crt"), "--tls-key-file", join(path, "server.key")],
      ...["--tls-ca-cert-file", join(path, "ca.crt")],
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
});

afterAll(async () => {
  redis?.kill();
  await redis?.exited;
  await joined?.leave();
  rmSync(folder, { recursive: true, force: true });
});

/** How a query ends over this URL: whether it was encrypted, or why the database is away. */
async function outcome(host: string, parameters: string): Promise<string> {
  const url = new URL(base);
  const sql = openPostgres({
    url: `postgres://${url.username}:${url.password}@${host}:${url.port}${url.pathname}${parameters}`,
    schema: "public",
    poolSize: 1,
  });
  try {
    const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl === true ? "encrypted" : "plain";
  } catch (error) {
    return isDatabaseUnavailable(error) ? (reasonOf(error).split(" (")[0] as string) : String(error);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test.each<[string, string, string]>([
  ["localhost", "", "plain"],
  ["localhost", "?sslmode=require", "encrypted"],
  ["127.0.0.1", "?sslmode=verify-full&sslrootcert=CA", "encrypted"],
  ["localhost", "?sslmode=verify-full&sslrootcert=CA", "TLS fails"],
  ["localhost", "?sslmode=verify-ca&sslrootcert=CA", "encrypted"],
  ["127.0.0.1", "?sslmode=verify-full&sslrootcert=STRANGER", "TLS fails"],
  ["127.0.0.1", "?sslmode=verify-full", "TLS fails"],
])("PostgreSQL at %s%s: %s", async (host, parameters, expected) => {
  const named = parameters.replace("CA", join(folder, "ca.crt")).replace("STRANGER", join(folder, "stranger.crt"));
  expect(await outcome(host, named)).toBe(expected);
});

test("a host whose name is not resolved is away", async () => {
  const sql = openPostgres({
    url: `${base.replace("127.0.0.1", "no-such-host.invalid")}`,
    schema: "public",
    poolSize: 1,
  });
  const reason = await sql`select 1`.then(() => "fine", reasonOf);
  await sql.end({ timeout: 1 });
  expect(reason).toContain("not resolved");
});

test("Redis by rediss, with the authority of the settings and without", async () => {
  const url = `rediss://127.0.0.1:${redisPort}`;
  const known = openRedis({ url, ca: readFileSync(join(folder, "ca.crt"), "utf8") });
  await until(async () => (await known.ping()) === "PONG", { what: "Redis to answer by TLS", timeoutMs: 30_000 });
  known.disconnect();
  const unknown = openRedis({ url });
  const failure = await unknown.ping().then(
    () => null,
    (error: unknown) => error,
  );
  unknown.disconnect();
  expect(isRedisUnavailable(failure)).toBe(true);
});

test.each<[string, string]>([
  ["postgres://h/d?sslmode=maybe", "sslmode"],
  ["postgres://h/d?sslmode=verify-full&sslrootcert=/no/such/file", "sslrootcert"],
  ["postgres://h/d?search_path=x", "parameter that is not known"],
  ["postgres://h:99999/d", "host or port"],
  ["postgres://h/d?target_session_attrs=standby", "target_session_attrs"],
])("%s is refused with its fault", (url, told) => {
  const fault = (() => {
    try {
      databaseTls(parseDatabaseUrl(url));
      return null;
    } catch (error) {
      return error;
    }
  })();
  expect(fault).toBeInstanceOf(DatabaseUrlFault);
  expect(String(fault)).toContain(told);
});
