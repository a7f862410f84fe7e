/**
 * The processor time that work takes in this process, ms: what bounds an algorithm on a busy machine, too, where the
 * clock on the wall does not.
 */
export function cpuTimeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
