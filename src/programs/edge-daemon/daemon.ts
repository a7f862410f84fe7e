/** The daemon as a whole: opens its state, runs the link and the executor until one of them ends it. */
import { mkdirSync, realpathSync } from "node:fs";
import { iso } from "../../../actors/kernel/time.ts";
import { version } from "../../../package.json";
import { capabilities } from "./capabilities.ts";
import { type Clocks, machineClocks, ServiceClock } from "./clock.ts";
import { type EdgeConfig, loadConfig } from "./config/config.ts";
import { Executor } from "./executor/executor.ts";
import { findSandbox, type Sandbox } from "./executor/sandbox.ts";
import { type CommandUser, findUser } from "./executor/user.ts";
import { Journal } from "./journal/journal.ts";
import { Link, type LinkEnd } from "./link/link.ts";
import { keepSmall } from "./memory.ts";
import { DaemonMetrics, serveMetrics } from "./metrics.ts";
import { LocalPolicy } from "./policy/local-policy.ts";
import { prepare, reasonOf, type StateDirectory, stateAt, stateDirectory } from "./state/directory.ts";
import { EdgeFailure, type Exit, exits } from "./state/failure.ts";
import { type HostIdentity, type HostKey, pruneArchive, readIdentity, readKey } from "./state/identity.ts";
import { takeLock } from "./state/lock.ts";
import { type DaemonStatus, writeStatus } from "./state/status.ts";

export interface DaemonOptions {
  /** Of the state; as `stateDirectory` finds it where it is absent. */
  readonly stateDir?: string | undefined;
  /** Path of the configuration; where it is absent `SVC_EDGE_CONFIG`, else `config.yaml` in the state directory. */
  readonly config?: string | undefined;
  /** One connection only. */
  readonly once?: boolean;
  /** The command line of a process that calls `serveFileTool`. */
  readonly fileToolProgram: readonly string[];
  /**
   * Replaces the program, where the service takes commands from newer ones only and the configuration wants it.
   * @returns what the daemon then exits with
   */
  readonly update?: (config: EdgeConfig, minVersion: string) => Promise<Exit>;
  readonly log?: (message: string) => void;
  readonly clocks?: Clocks;
  readonly agentVersion?: string;
}

/** How long results may take to be acknowledged when the daemon stops, ms. */
const deliverWithinMs = 10_000;

/**
 * Runs the daemon until it is stopped (SIGTERM, SIGINT), revoked or outdated.
 * @returns its exit code; what cannot be begun is told by `log`
 */
export async function runDaemon(options: DaemonOptions): Promise<Exit> {
  const log = options.log ?? ((message: string) => console.error(`svc edge: ${message}`));
  try {
    return await run(options, log);
  } catch (error) {
    if (!(error instanceof EdgeFailure)) throw error;
    log(error.message);
    return error.exit;
  }
}

async function run(options: DaemonOptions, log: (message: string) => void): Promise<Exit> {
  const state = realState(stateDirectory(options.stateDir));
  const { identity, key } = enrolled(state);
  const config = loadConfig(state, options.config ?? process.env.SVC_EDGE_CONFIG);
  requireSafeAddress(identity);
  const user = await findUser(config.runAs);
  const release = takeLock(state);
  try {
    mkdirSync(config.workdir, { recursive: true, mode: 0o700 });
    pruneArchive(state, machineClocks.wall());
    return await serve({
      ...options,
      state,
      identity,
      key,
      config: { ...config, workdir: realpathSync(config.workdir) },
      user,
      log,
    });
  } finally {
    release();
  }
}

/** The directory under its one real name, which is what is hidden and closed. */
function realState(given: StateDirectory): StateDirectory {
  prepare(given);
  return stateAt(realpathSync(given.path));
}

function enrolled(state: StateDirectory): { readonly identity: HostIdentity; readonly key: HostKey } {
  const [identity, key] = [readIdentity(state), readKey(state)];
  if (identity !== null && key !== null) return { identity, key };
  throw new EdgeFailure(exits.conflict, `${state.path} is not enrolled: run svc edge enroll <token> first`);
}

/** @throws EdgeFailure (usage) for a link that anybody on the way could read, unless the identity allows it */
function requireSafeAddress({ connect_url, allow_plaintext = false }: HostIdentity): void {
  const url = URL.parse(connect_url);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? "");
  if (url?.protocol === "wss:" || (url?.protocol === "ws:" && (isLoopback || allow_plaintext))) return;
  throw new EdgeFailure(exits.usage, `${connect_url} is no wss:// address; enroll with --allow-plaintext to use it`);
}

interface Parts extends Omit<DaemonOptions, "config"> {
  readonly state: StateDirectory;
  readonly identity: HostIdentity;
  readonly key: HostKey;
  readonly config: EdgeConfig;
  readonly user: CommandUser | null;
  readonly log: (message: string) => void;
}

async function serve(parts: Parts): Promise<Exit> {
  const { state, identity, key, config, user, log } = parts;
  const agentVersion = parts.agentVersion ?? version;
  const bootId = crypto.randomUUID();
  const clock = new ServiceClock(parts.clocks ?? machineClocks);
  const metrics = new DaemonMetrics();
  const policy = new LocalPolicy(config);
  const sandbox = await findSandbox(config.sandbox, state);
  log(`version ${agentVersion}, commands are isolated by ${sandbox.name}`);
  let journalChanged = () => {};
  const journal = await Journal.open(state, { now: () => clock.wall(), changed: () => journalChanged() });
  if (journal.failure !== null) log(`the journal cannot be written: ${journal.failure}`);
  const memory = keepSmall();
  const link = new Link({
    ...{ state, identity, key, journal, clock, metrics, agentVersion, bootId, log },
    slots: config.slots,
    reconnect: config.reconnect,
    capabilities: () => capabilities(config, policy),
    environment: process.env,
    changed: () => {
      // A heartbeat alone brings a quarter of the code back.
      memory.give();
      void tell();
    },
  });
  const host = { config, state, sandbox, user, environment: process.env, program: parts.fileToolProgram };
  const executor = new Executor({
    ...{ journal, policy, clock, host, metrics, log },
    slots: config.slots,
    reports: link,
    idle: memory.give,
  });
  const tell = async () => {
    const status = statusOf({
      identity,
      bootId,
      agentVersion,
      clock,
      link,
      executor,
      journal,
      metrics,
      config,
      sandbox,
    });
    await writeStatus(state, status).catch(() => {});
  };
  journalChanged = () => {
    if (journal.failure !== null) metrics.journalErrors += 1;
    log(
      journal.failure === null ? "the journal is written again" : `the journal cannot be written: ${journal.failure}`,
    );
    link.acceptingChanged();
    void tell();
  };
  const page = () => metrics.page({ isConnected: () => link.status.connected, running: () => executor.running });
  const served = config.metricsListen === null ? null : listen(config.metricsListen, page);
  const signals = onSignals({ executor, link, journal, graceMs: config.shutdownGraceSecs * 1_000, log });
  try {
    await executor.settle();
    await tell();
    const end = await link.run(executor, parts.once ?? false);
    return await exitOf(end, parts, executor, signals.isStopped());
  } finally {
    memory.stop();
    signals.remove();
    served?.stop();
    await tell();
    await journal.close();
  }
}

function listen(at: NonNullable<EdgeConfig["metricsListen"]>, page: () => string) {
  try {
    return serveMetrics(at, page);
  } catch (error) {
    throw new EdgeFailure(exits.usage, `metrics.listen: ${at.hostname}:${at.port} cannot be had: ${reasonOf(error)}`);
  }
}

interface Running {
  readonly executor: Executor;
  readonly link: Link;
  readonly journal: Journal;
  readonly graceMs: number;
  readonly log: (message: string) => void;
}

/** SIGTERM and SIGINT stop the daemon, the second one at once; SIGHUP has it connect anew, with the keys as they are. */
function onSignals({ executor, link, journal, graceMs, log }: Running) {
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return void executor.drain(0);
    isStopped = true;
    log("stopping");
    const drained = executor.drain(graceMs);
    link.acceptingChanged();
    await drained;
    const until = performance.now() + deliverWithinMs;
    while (link.status.connected && journal.unacknowledged().length > 0 && performance.now() < until)
      await Bun.sleep(20);
    link.stop();
  };
  const handlers: readonly (readonly [NodeJS.Signals, () => void])[] = [
    ["SIGTERM", () => void stop()],
    ["SIGINT", () => void stop()],
    ["SIGHUP", () => link.renew("the daemon was told to")],
  ];
  for (const [name, handler] of handlers) process.on(name, handler);
  return {
    isStopped: () => isStopped,
    remove: () => {
      for (const [name, handler] of handlers) process.off(name, handler);
    },
  };
}

async function exitOf(
  end: LinkEnd,
  { config, update, log }: Parts,
  executor: Executor,
  isSignalled: boolean,
): Promise<Exit> {
  if (end.kind === "stopped") {
    await executor.drain(config.shutdownGraceSecs * 1_000);
    return isSignalled || end.wasWelcomed ? exits.ok : exits.unavailable;
  }
  if (end.kind === "revoked") executor.killAll();
  await executor.drain(0);
  if (end.kind === "revoked") {
    log("this host was revoked");
    return exits.authentication;
  }
  log(`the service takes commands from version ${end.minVersion} on`);
  return config.update.auto && update !== undefined ? await update(config, end.minVersion) : exits.unavailable;
}

interface Shown {
  readonly identity: HostIdentity;
  readonly bootId: string;
  readonly agentVersion: string;
  readonly clock: ServiceClock;
  readonly link: Link;
  readonly executor: Executor;
  readonly journal: Journal;
  readonly metrics: DaemonMetrics;
  readonly config: EdgeConfig;
  readonly sandbox: Sandbox;
}

function statusOf({ link: { status }, executor, journal, clock, ...rest }: Shown): DaemonStatus {
  return {
    node_id: rest.identity.node_id,
    pid: process.pid,
    boot_id: rest.bootId,
    agent_version: rest.agentVersion,
    connected: status.connected,
    since: iso(status.since),
    epoch: status.epoch,
    last_heartbeat_at: status.lastHeartbeatAt === null ? null : iso(status.lastHeartbeatAt),
    accepting: executor.notAccepting.length === 0,
    not_accepting: executor.notAccepting,
    running: executor.running,
    slots: rest.config.slots,
    unacknowledged: journal.unacknowledged().length,
    reconnects: rest.metrics.reconnects,
    last_close: status.lastClose === null ? null : { ...status.lastClose, at: iso(status.lastClose.at) },
    last_error: status.lastError,
    min_version: status.minVersion,
    sandbox: rest.sandbox.name,
    journal: { id: journal.id, seq: journal.seq },
    updated_at: iso(clock.wall()),
  };
}
