/** A PostgreSQL primary and its streaming standby, of a test's own: to be killed and promoted. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locatePostgres, postgresAccount, runAs } from "../../src/store/embedded/postgres-binaries.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { until } from "../harness/until.ts";

const standbyName = "standby";

export class PostgresPair {
  private readonly opened: Sql[] = [];
  private constructor(
    private readonly folder: string,
    private readonly primary: { readonly port: number; readonly child: Bun.Subprocess },
    private readonly standby: { readonly port: number; readonly child: Bun.Subprocess },
  ) {}

  /** @param synchronous whether commits wait for the standby */
  static async start(synchronous: boolean): Promise<PostgresPair> {
    const folder = mkdtempSync(join(tmpdir(), "svc-postgres-pair-"));
    chmodSync(folder, 0o755);
    const account = postgresAccount();
    const { initdb, postgres } = locatePostgres(account);
    const [first, second] = [join(folder, "primary"), join(folder, "standby")];
    mkdirSync(first, { mode: 0o700 });
    if (account !== null) chownSync(first, account.uid, account.gid);
    const made = [initdb, `--pgdata=${first}`, "--username=svc", "--auth=trust", "--encoding=UTF8", "--no-sync"];
    run(runAs(account, first, made));
    // A cluster that was shut down can be copied as files; the standby reads on from there.
    run(["cp", "-a", first, second]);
    const [firstPort, secondPort] = [await freePort(), await freePort()];
    const file = (name: string, text: string) => {
      writeFileSync(join(second, name), text, { mode: 0o600 });
      if (account !== null) chownSync(join(second, name), account.uid, account.gid);
    };
    file("standby.signal", "");
    const source = `host=127.0.0.1 port=${firstPort} user=svc application_name=${standbyName}`;
    // Not on the command line, which no later setting overrides.
    file("postgresql.auto.conf", `primary_conninfo = '${source}'\n`);
    const start = (data: string, port: number, more: readonly string[]) => {
      const settings = [...shared, ...more].flatMap((setting) => ["-c", setting]);
      const command = runAs(account, data, [postgres, "-D", data, "-p", String(port), ...settings]);
      return { port, child: Bun.spawn(command, { cwd: "/", stdio: ["ignore", "ignore", "ignore"] }) };
    };
    const names = synchronous ? [`synchronous_standby_names=${standbyName}`] : [];
    const pair = new PostgresPair(folder, start(first, firstPort, names), start(second, secondPort, []));
    const sql = pair.open("", "primary");
    const wanted = synchronous ? "sync" : "async";
    const replicates = async () => {
      return (await sql`select 1 from pg_stat_replication where sync_state = ${wanted}`).length === 1;
    };
    await until(replicates, { what: "the standby to follow", everyMs: 50, timeoutMs: 20_000 });
    return pair;
  }

  /** Names both servers. */
  get url(): string {
    return `postgres://svc@127.0.0.1:${this.primary.port},127.0.0.1:${this.standby.port}/postgres`;
  }

  open(schema: string, which: "primary" | "standby"): Sql {
    const url = `postgres://svc@127.0.0.1:${this[which].port}/postgres`;
    const sql = openPostgres({ url, schema, poolSize: 2 });
    this.opened.push(sql);
    return sql;
  }

  async migrated(schema: string): Promise<void> {
    await migrate(this.open(schema, "primary"), schema);
  }

  /** The standby has all commits up to now, and gets none from now on. */
  async stopReplication(): Promise<void> {
    const [primary, standby] = [this.open("", "primary"), this.open("", "standby")];
    const [now] = await primary<[{ lsn: string }]>`select pg_current_wal_flush_lsn()::text as lsn`;
    const behind = async () =>
      (await standby`select 1 where pg_last_wal_replay_lsn() >= ${now.lsn}::text::pg_lsn`).length === 1;
    await until(behind, { what: "the standby to have every commit" });
    await standby`alter system set primary_conninfo = ''`;
    await standby`select pg_reload_conf()`;
    await until(async () => (await standby`select 1 from pg_stat_wal_receiver`).length === 0, {
      what: "the standby to receive nothing more",
    });
  }

  /** kill -9 of the primary; its backends end with it. */
  async killPrimary(): Promise<void> {
    this.primary.child.kill("SIGKILL");
    await this.primary.child.exited;
  }

  async promote(): Promise<void> {
    const [row] = await this.open("", "standby")<[{ done: boolean }]>`select pg_promote(true, 30) as done`;
    if (!row.done) throw new Error("the standby was not promoted");
  }

  async dispose(): Promise<void> {
    await Promise.all(this.opened.map((sql) => sql.end({ timeout: 0 })));
    for (const { child } of [this.primary, this.standby]) {
      child.kill("SIGKILL");
      await child.exited;
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Only processes are killed here, not machines: what is written need not be flushed. */
const shared = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  // Not below that of initdb, which a standby refuses.
  "max_connections=100",
  "shared_buffers=32MB",
  "fsync=off",
  "synchronous_commit=on",
  "wal_keep_size=512MB",
  "wal_retrieve_retry_interval=200ms",
  "hot_standby=on",
  "jit=off",
];

function run(command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: "/", stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command[0]} failed: ${stderr.toString().trim()}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0));
    });
  });
}
