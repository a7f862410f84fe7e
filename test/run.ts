/**
 * Runs every test: starts the stores once, runs the test files over two processes, and closes with the
 * plain line `N passed, N failed`. Arguments are handed to `bun test`.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinTestStores } from "./harness/stores.ts";

/** Test processes: as many as the machines this runs on have cores. */
const processes = 2;
/** Real stores on a busy machine: a slow test is not a failed one. */
const testTimeoutMs = 30_000;

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Sums up the report that Bun writes for other programs. A run that wrote none has failed. */
function readCounts(report: string): Counts {
  const head = /<testsuites [^>]*>/.exec(readFileSync(report, "utf8"))?.[0] ?? "";
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? Number.NaN);
  const [tests, failed, skipped] = [count("tests"), count("failures"), count("skipped")];
  return { passed: tests - failed - skipped, failed, skipped };
}

async function run(args: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
  const report = join(folder, "report.xml");
  const given = process.env.DATABASE_URL && process.env.REDIS_URL;
  const stores = given ? null : await joinTestStores();
  try {
    const child = Bun.spawn(
      [
        process.execPath,
        "test",
        `--parallel=${processes}`,
        `--timeout=${testTimeoutMs}`,
        "--reporter=junit",
        `--reporter-outfile=${report}`,
        ...args,
      ],
      {
        cwd: join(import.meta.dir, ".."),
        stdin: "ignore",
        stdout: "inherit",
        stderr: "inherit",
        env: {
          ...process.env,
          ...(stores === null ? {} : { DATABASE_URL: stores.databaseUrl ?? "", REDIS_URL: stores.redisUrl ?? "" }),
        },
      },
    );
    const exitCode = await child.exited;
    const counts = readCounts(report);
    // A process that died, or an error outside any test, is a failure even where every test passed.
    const failed = exitCode !== 0 && counts.failed === 0 ? 1 : counts.failed;
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
    console.log(`${counts.passed} passed, ${failed} failed${skipped}`);
    return failed > 0 ? 1 : 0;
  } catch (error) {
    console.error(error);
    console.log("0 passed, 1 failed");
    return 1;
  } finally {
    await stores?.leave();
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exit(await run(process.argv.slice(2)));
