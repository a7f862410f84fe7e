/**
 * Several nodes on one machine: one process each behind one port, because a node uses one core. What dies is started again,
 * what hangs is killed first, and all are stopped together. The supervisor itself serves nothing and keeps nothing.
 */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openPort, StartFailure } from "../lib/start-failure.ts";
import type { Config } from "./config.ts";
import type { NodeChild, Ready } from "./supervised.ts";

/** Before a node that died is started again, ms; doubles while it dies soon again. */
const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A node that ran for so long died of something new, ms. */
const steadyMs = 60_000;
/** How often each node is asked whether it is alive, ms; how long it may take for the answer. */
const usualAsking = { everyMs: 10_000, answerMs: 5_000 };
/** A node that misses so many answers in a row is killed. */
const missingAnswers = 3;

/** How long to wait before the next start of a node that died for the n-th time in a row, from 1. */
export const restartPauseMs = (deaths: number): number => Math.min(longestPauseMs, firstPauseMs * 2 ** (deaths - 1));

export interface SupervisorParts {
  /** Starts the program of one of so many nodes, which says when it is ready. */
  spawn(
    nodes: number,
    environment: Readonly<Record<string, string | undefined>>,
    told: (ready: Ready) => void,
  ): NodeChild;
  say(line: string): void;
  /** A node is up, or up again, with addresses that may have changed. */
  changed(nodes: readonly RunningNode[]): void;
  /** For tests. */
  readonly asking?: { readonly everyMs: number; readonly answerMs: number };
  /** Monotonic milliseconds. */
  now(): number;
}

export type RunningNode = Ready & { readonly pid: number };

export interface Supervisor {
  readonly nodes: readonly RunningNode[];
  /** Lets all nodes finish what they have begun, and waits for their end. */
  stop(): Promise<void>;
  /** Ends them at once. */
  kill(): void;
}

/** @throws StartFailure when a node does not start; then none is left */
export async function startSupervisor(config: Config, parts: SupervisorParts): Promise<Supervisor> {
  if (config.port !== 0) requireFree(config.host, config.port);
  const { asking: times = usualAsking } = parts;
  const places: Place[] = [];
  let stopping = false;
  const settingsOf = (index: number): Record<string, string> => {
    const first = places[0]?.ready ?? null;
    const before = places[index]?.ready ?? null;
    const ownPort = (configured: number, former: number | undefined) =>
      String(former ?? (index === 0 ? configured : 0));
    return {
      SVC_NODES: "1",
      SVC_PORT: String(first?.port ?? config.port),
      SVC_INTERNAL_PORT: ownPort(config.internalPort, before?.internalPort),
      SVC_EGRESS_PORT: ownPort(config.egressPort, before?.egressPort),
      SVC_METRICS_PORT: String(config.metricsPort === 0 ? 0 : config.metricsPort + index),
    };
  };

  /** Resolves once the node is up, or has ended before that: with its exit code. */
  function begin(index: number): Promise<"up" | number | null> {
    const place = places[index] ?? { ready: null, child: null, deaths: 0, startedAt: 0, silent: 0 };
    places[index] = place;
    const up = Promise.withResolvers<"up" | number | null>();
    let isUp = false;
    const child = parts.spawn(config.nodes, { ...config.environmentAsSet(), ...settingsOf(index) }, (ready) => {
      place.ready = ready;
      isUp = true;
      up.resolve("up");
    });
    place.child = child;
    place.startedAt = parts.now();
    place.silent = 0;
    void child.ended.then((code) => {
      place.child = null;
      up.resolve(code);
      // One of its former ports may be taken meanwhile.
      if (!isUp && index > 0) place.ready = null;
    });
    return up.promise;
  }

  /** Starts a node again for as long as it dies. */
  async function keep(index: number): Promise<void> {
    while (!stopping) {
      const place = places[index];
      const code = await place?.child?.ended;
      if (stopping || place === undefined) return;
      place.deaths = parts.now() - place.startedAt >= steadyMs ? 1 : place.deaths + 1;
      const pause = restartPauseMs(place.deaths);
      parts.say(`node ${index + 1} has ended (${code ?? "killed"}); it starts again in ${pause / 1000} s`);
      await Bun.sleep(pause);
      if (!stopping && (await begin(index)) === "up") parts.changed(running());
    }
  }

  async function stop(): Promise<void> {
    stopping = true;
    clearInterval(asking);
    for (const { child } of places) child?.kill("SIGTERM");
    await Promise.all(places.map(({ child }) => child?.ended));
  }

  async function askAll(): Promise<void> {
    await Promise.all(
      places.map(async (place, index) => {
        const { child, ready } = place;
        if (child === null || ready === null || stopping) return;
        const url = `http://${config.internalHost.includes(":") ? `[${config.internalHost}]` : config.internalHost}`;
        const answered = await fetch(`${url}:${ready.internalPort}/health/live`, {
          signal: AbortSignal.timeout(times.answerMs),
        }).then(
          ({ ok }) => ok,
          () => false,
        );
        // Another one was started meanwhile.
        if (place.child !== child) return;
        place.silent = answered ? 0 : place.silent + 1;
        if (place.silent < missingAnswers) return;
        parts.say(`node ${index + 1} is not alive any more; it is killed`);
        child.kill("SIGKILL");
      }),
    );
  }
  const asking = setInterval(() => void askAll(), times.everyMs);

  // The first one sets up the stores and gets the port that the others share.
  const begun = [await begin(0)];
  if (begun[0] === "up") {
    const others = Array.from({ length: config.nodes - 1 }, (_, index) => begin(index + 1));
    begun.push(...(await Promise.all(others)));
  }
  if (begun.some((one) => one !== "up")) {
    await stop();
    throw new StartFailure("a node ended before it was ready: see what it said above.");
  }
  const running = () =>
    places.flatMap(({ ready, child }) => (ready === null || child === null ? [] : [{ ...ready, pid: child.pid }]));
  parts.changed(running());
  for (const index of places.keys()) void keep(index);
  return {
    get nodes() {
      return running();
    },
    stop,
    kill: () => {
      stopping = true;
      for (const { child } of places) child?.kill("SIGKILL");
    },
  };
}

interface Place {
  /** Of the process that runs, or ran last. */
  ready: Ready | null;
  child: NodeChild | null;
  deaths: number;
  startedAt: number;
  /** Questions in a row without an answer. */
  silent: number;
}

/** Nodes share their port on purpose, so that they would share another program's as well. @throws StartFailure */
function requireFree(hostname: string, port: number): void {
  openPort("SVC", hostname, port, () => Bun.listen({ hostname, port, socket: { data() {} } })).stop(true);
}

/** The address file of all nodes, under the id of the process that was started; taken away at its end. */
export function keepAddresses(dataDir: string): (nodes: readonly RunningNode[]) => void {
  const path = join(resolve(dataDir), `node-${process.pid}.json`);
  process.on("exit", () => rmSync(path, { force: true }));
  return (nodes) => {
    const [first] = nodes;
    const facts = {
      pid: process.pid,
      port: first?.port,
      internal_port: first?.internalPort,
      nodes: nodes.map(({ pid, node, internalPort, metricsPort }) => ({
        pid,
        node,
        internal_port: internalPort,
        metrics_port: metricsPort,
      })),
    };
    writeFileSync(`${path}.new`, JSON.stringify(facts));
    renameSync(`${path}.new`, path);
  };
}
