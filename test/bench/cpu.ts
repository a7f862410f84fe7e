/** CPU time of the node and of its stores: it wanders less than what a clock shows on a machine that others use. */
import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds that processes have used since they began, those of children that have ended included. */
export interface CpuTimes {
  readonly node: number;
  readonly postgres: number;
  readonly redis: number;
}

/** Of a tick of the system's accounting. */
const tickMs = 10;

/** @param dataDir of the bench's stores, which are told from others by it */
export function cpuTimes(pid: number, dataDir: string): CpuTimes {
  const all = processes();
  const main = all.find(({ command }) => command.includes("postgres") && command.includes(dataDir));
  const redis = all.find(({ command }) => command.includes("redis-server") && command.includes(dataDir));
  const node = all.find((one) => one.pid === pid);
  const server = all.filter((one) => one.pid === main?.pid || (main !== undefined && one.parent === main.pid));
  return {
    node: node?.own ?? 0,
    postgres: server.reduce((sum, { own }) => sum + own, main?.ofChildren ?? 0),
    redis: redis?.own ?? 0,
  };
}

/** Microseconds for each of `count` pieces of work, as a note of a row says it. */
export function cpuEach(before: CpuTimes, after: CpuTimes, count: number): string {
  const each = (name: keyof CpuTimes) => Math.round(((after[name] - before[name]) * 1000) / count);
  return `CPU each, µs: node ${each("node")}, PostgreSQL ${each("postgres")}, Redis ${each("redis")}`;
}

function processes() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        // Behind the name of the program, which may hold anything: state, parent, … user, system, and those of children.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const time = (at: number) => Number(fields[at]) * tickMs;
        const own = time(11) + time(12);
        return [{ pid: Number(name), parent: Number(fields[1]), command, own, ofChildren: time(13) + time(14) }];
      } catch {
        return [];
      }
    });
}
