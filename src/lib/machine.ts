/** What of its machine this process may use: less than there is, where its control group bounds it. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The content of a file; null where there is none. */
export type ReadText = (path: string) => string | null;

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
};

const group = "/sys/fs/cgroup";

/** Cores, a share of one too, such as 1.5. */
export function usableCores(read: ReadText = readText, cores = availableParallelism()): number {
  const [quota, period] = read(`${group}/cpu.max`)?.split(" ") ?? [
    read(`${group}/cpu/cpu.cfs_quota_us`),
    read(`${group}/cpu/cpu.cfs_period_us`),
  ];
  const bound = Number(quota) / Number(period);
  return Number.isFinite(bound) && bound > 0 ? Math.min(cores, Math.round(bound * 100) / 100) : cores;
}

/** Bytes that it may still take. */
export function availableMemory(read: ReadText = readText, free = process.availableMemory()): number {
  const limit = read(`${group}/memory.max`) ?? read(`${group}/memory/memory.limit_in_bytes`);
  const used = read(`${group}/memory.current`) ?? read(`${group}/memory/memory.usage_in_bytes`);
  const left = Number(limit ?? "max") - Number(used ?? Number.NaN);
  return Number.isFinite(left) ? Math.max(0, Math.min(free, left)) : free;
}
