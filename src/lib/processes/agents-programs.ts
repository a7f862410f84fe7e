/** Programs that the service runs over what agents made: neither its number nor its depth is the service's to choose. */

/** Where the service looks for programs of its own; never the environment's PATH. */
const trustedPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Runs a program that reads or removes agents' directories. A service that is no root owns what its agents make, and is
 * kept out by a directory that one of them has closed to everybody. Where something kept the program from its work it is
 * run once more with the right to pass such directories, in a user namespace in which that right ends with what the
 * service owns.
 * @param argv a program that may be run twice; an exit code other than 0 says that something was left out
 * @param read its output; called once for each time that the program runs
 * @param budgetMs how long one run may take; it is ended then, and something was left out. Absent: any time
 */
export async function overAgentsFiles<T>(
  argv: readonly string[],
  read: (output: ReadableStream<Uint8Array>) => Promise<T>,
  budgetMs?: number,
): Promise<T> {
  const first = await run(argv, read, budgetMs);
  if (first.code === 0) return first.result;
  passageThrough ??= findPassage();
  const passage = await passageThrough;
  return passage === null ? first.result : (await run([...passage, ...argv], read, budgetMs)).result;
}

let passageThrough: Promise<readonly string[] | null> | undefined;

/** Null for root, which needs none, and where bubblewrap cannot run. */
async function findPassage(): Promise<readonly string[] | null> {
  const bubblewrap = Bun.which("bwrap", { PATH: trustedPath });
  if (process.platform !== "linux" || process.getuid?.() === 0 || bubblewrap === null) return null;
  const own = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "CAP_DAC_OVERRIDE"];
  const passage = [bubblewrap, ...own, "--die-with-parent", "--dev-bind", "/", "/", "--"];
  const { code } = await run([...passage, "true"], (output) => new Response(output).text());
  return code === 0 ? passage : null;
}

async function run<T>(
  argv: readonly string[],
  read: (output: ReadableStream<Uint8Array>) => Promise<T>,
  budgetMs?: number,
) {
  const child = Bun.spawn([...argv], {
    env: { PATH: trustedPath, LC_ALL: "C" },
    stdio: ["ignore", "pipe", "ignore"],
    ...(budgetMs === undefined ? {} : { timeout: budgetMs, killSignal: "SIGKILL" }),
  });
  const result = await read(child.stdout);
  return { result, code: await child.exited };
}
