/**
 * Runs every test: starts the stores once, runs the test files over four processes, beside them the fault suite on a Redis
 * Cluster, and closes with the plain line `N passed, N failed`. Arguments are handed to `bun test`, once, on the Redis
 * that `SVC_TEST_REDIS` names (`single`, `cluster`, `sentinel`).
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kindVariable, type RedisKind, redisKind, sharedServersVariable, startRedis } from "./harness/redis/kind.ts";
import { enterScratch } from "./harness/scratch.ts";
import { joinTestStores } from "./harness/stores.ts";

/**
 * Test processes, beside one for the faults on another kind of Redis. Two cores have room for twice as many as they are: a
 * test waits for half of its time and more, for what happens by a clock and for nodes that were killed to be missed.
 */
const processes = 4;
/** Real stores on a busy machine: a slow test is not a failed one. */
const testTimeoutMs = 60_000;

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}
interface Report extends Counts {
  /** Files with failed tests. */
  readonly files: readonly string[];
  /** What each of them said. */
  readonly failures: readonly string[];
}

/** Reads the report that Bun writes for other programs. A run that wrote none has failed. */
function readReport(path: string): Report {
  const text = readFileSync(path, "utf8");
  const attribute = (tag: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  const head = /<testsuites [^>]*>/.exec(text)?.[0] ?? "";
  const count = (name: string) => Number(attribute(head, name) || Number.NaN);
  const [tests, failed, skipped] = [count("tests"), count("failures"), count("skipped")];
  const suites = [...text.matchAll(/<testsuite [^>]*>/g)].map(([tag]) => tag);
  const files = suites.filter((tag) => attribute(tag, "failures") !== "0").map((tag) => attribute(tag, "file"));
  const failures = [...text.matchAll(/<testcase ([^>]*)>\s*<failure[^>]*>([^<]*)/g)].map(
    ([, tag = "", said = ""]) =>
      `${attribute(tag, "file")}: ${attribute(tag, "name")}\n${said.slice(0, 2_000).replaceAll("&#10;", "\n")}`,
  );
  return { passed: tests - failed - skipped, failed, skipped, files: [...new Set(files)], failures };
}

interface Run {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Another run has the terminal: what this one writes is shown under the title when it is through. */
  readonly beside?: string;
  /** Part of a run of all tests: files that fail run once more alone. */
  readonly isOfAll: boolean;
  /** Nothing runs beside it. */
  readonly isAlone?: boolean;
}

/** More files than that fail for another reason than that the machine is busy. */
const mostFilesAgain = 5;

/**
 * Runs `bun test`, and files that failed beside others once more alone: of a test that passes then, the machine was too
 * busy, or two things met that seldom meet. Each is named, since both are faults to be looked into.
 */
async function runTests(run: Run): Promise<Counts> {
  const first = await runOnce(run);
  if (!run.isOfAll || first.files.length === 0 || first.files.length > mostFilesAgain) return first;
  for (const failure of first.failures) console.log(`Failed beside others: ${failure}`);
  const again = await runOnce({ ...run, args: first.files, beside: `Alone: ${first.files.join(", ")}`, isAlone: true });
  if (again.failed > 0) return { ...first, failed: Math.max(first.failed, again.failed) };
  console.log(`Passed alone only: ${first.files.join(", ")}`);
  return { passed: first.passed + first.failed, failed: 0, skipped: first.skipped };
}

/** Runs `bun test` once. A process that died, or an error outside any test, counts as a failure where every test passed. */
async function runOnce({ args, env, beside, isAlone }: Run): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
  const report = join(folder, "report.xml");
  const written = join(folder, "output");
  const output = beside === undefined ? "inherit" : openSync(written, "a");
  try {
    const child = Bun.spawn(
      [
        process.execPath,
        "test",
        `--parallel=${beside === undefined && !isAlone ? processes : 1}`,
        `--timeout=${testTimeoutMs}`,
        "--reporter=junit",
        `--reporter-outfile=${report}`,
        ...args,
      ],
      {
        cwd: join(import.meta.dir, ".."),
        stdin: "ignore",
        stdout: output,
        stderr: output,
        env: { ...process.env, ...env },
      },
    );
    const exitCode = await child.exited;
    if (beside !== undefined) console.log(`${beside}\n${readFileSync(written, "utf8")}`);
    const found = readReport(report);
    return { ...found, failed: exitCode !== 0 && found.failed === 0 ? 1 : found.failed };
  } finally {
    if (output !== "inherit") closeSync(output);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs `bun test` on servers of this kind that its tests share. */
async function runOn(kind: RedisKind, run: Run): Promise<Counts> {
  const redis = await startRedis(kind);
  try {
    if (redis === null) return await runTests(run);
    const servers = JSON.stringify(redis.servers);
    return await runTests({ ...run, env: { ...run.env, [kindVariable]: kind, [sharedServersVariable]: servers } });
  } finally {
    await redis?.dispose();
  }
}

/** What runs again on a Cluster, and in the longer form also where Sentinel watches: the faults that do not depend on the single server. */
const faults = ["test/faults/runtime", "test/faults/stimuli.test.ts"];
const shortFaults = [
  ...["crash", "fencing", "handover", "outage"].map((name) => `test/faults/runtime/${name}.test.ts`),
  "test/faults/stimuli.test.ts",
];

/** The fault suite where Redis is no single server, one kind after the other. */
async function runFaults(env: Run["env"]): Promise<readonly Counts[]> {
  const isLong = process.env.SVC_LONG_TESTS === "1";
  const beside = "The fault suite on a Redis Cluster:";
  const isOfAll = true;
  const counts = [await runOn("cluster", { args: isLong ? faults : shortFaults, env, beside, isOfAll })];
  if (isLong)
    counts.push(
      await runOn("sentinel", { args: faults, env, beside: "The fault suite with Redis Sentinel:", isOfAll }),
    );
  return counts;
}

async function run(args: readonly string[]): Promise<number> {
  const leaveScratch = await enterScratch();
  const given = process.env.DATABASE_URL && process.env.REDIS_URL;
  const stores = given ? null : await joinTestStores();
  const env = stores === null ? {} : { DATABASE_URL: stores.databaseUrl ?? "", REDIS_URL: stores.redisUrl ?? "" };
  try {
    // Arguments say which tests are wanted, the variable on which Redis.
    const isWhole = args.length === 0 && redisKind === "single";
    const runs = await Promise.allSettled([
      runOn(redisKind, { args, env, isOfAll: isWhole }).then((counts) => [counts]),
      isWhole ? runFaults(env) : [],
    ]);
    const all = runs.flatMap((run) => {
      if (run.status === "rejected") throw run.reason;
      return run.value;
    });
    const sum = (name: keyof Counts) => all.reduce((total, counts) => total + counts[name], 0);
    const [passed, failed, skipped] = [sum("passed"), sum("failed"), sum("skipped")];
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
    return failed > 0 ? 1 : 0;
  } catch (error) {
    console.error(error);
    console.log("0 passed, 1 failed");
    return 1;
  } finally {
    await stores?.leave();
    await leaveScratch();
  }
}

process.exit(await run(process.argv.slice(2)));
