import { expect, test } from "bun:test";
import { availableMemory, type ReadText, usableCores } from "../../src/lib/machine.ts";

const group = "/sys/fs/cgroup";
const files =
  (content: Readonly<Record<string, string>>): ReadText =>
  (path) =>
    content[path.slice(group.length + 1)] ?? null;

test.each([
  [{ "cpu.max": "150000 100000" }, 1.5],
  [{ "cpu.max": "max 100000" }, 8],
  [{ "cpu.max": "1600000 100000" }, 8],
  [{ "cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000" }, 2],
  [{ "cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000" }, 8],
  [{}, 8],
])("of eight cores, with %j it may use %p", (content, cores) => {
  expect(usableCores(files(content), 8)).toBe(cores);
});

test.each([
  [{ "memory.max": "1000", "memory.current": "400" }, 600],
  [{ "memory.max": "1000", "memory.current": "1400" }, 0],
  [{ "memory.max": "max", "memory.current": "400" }, 900],
  [{ "memory/memory.limit_in_bytes": "1000", "memory/memory.usage_in_bytes": "300" }, 700],
  [{}, 900],
])("of 900 free bytes, with %j it may take %p", (content, bytes) => {
  expect(availableMemory(files(content), 900)).toBe(bytes);
});
