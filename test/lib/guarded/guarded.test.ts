/** Guarded processes: kept, killed, replaced (docs/reference/security.md). */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { BudgetExceeded, ChildEnded } from "../../../src/lib/guarded/child.ts";
import { type GuardedOptions, runGuarded } from "../../../src/lib/guarded/guarded.ts";
import { until } from "../../harness/until.ts";

const program = join(import.meta.dir, "guarded-program.ts");
const run = (work: string, options: Partial<GuardedOptions> = {}) =>
  runGuarded(program, { work }, { kind: "computation", tenant: "acme", budgetMs: 5_000, ...options });

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

test("a process that computed is kept for the next job, one that walked is not", async () => {
  const first = await run("pid");
  expect(await run("pid")).toBe(first);
  const walked = Number(await run("pid", { kind: "walk" }));
  expect(walked).not.toBe(Number(first));
  await until(() => isGone(walked));
});

test("a kept process that was ended meanwhile is replaced", async () => {
  const pid = Number(await run("pid"));
  process.kill(pid, "SIGKILL");
  expect(await run("pid")).not.toBe(pid);
});

test("work that ends its process or its budget fails, and the next is done", async () => {
  expect(await run("end").catch((error) => error)).toBeInstanceOf(ChildEnded);
  expect(await run("forever", { budgetMs: 100 }).catch((error) => error)).toBeInstanceOf(BudgetExceeded);
  expect(await run("pid")).toBeNumber();
});

test("a budget is processor time: waiting for a busy machine spends none", async () => {
  expect(await run("wait", { budgetMs: 600 })).toBeNumber();
  const failure = await run("wait", { budgetMs: 50 }).catch((error) => error);
  expect(failure, "five times the budget have gone by").toBeInstanceOf(BudgetExceeded);
});

test("work whose caller leaves is killed, and its process is not used again", async () => {
  const pid = Number(await run("pid"));
  const leaving = new AbortController();
  const abandoned = run("forever", { signal: leaving.signal });
  leaving.abort(new Error("left"));
  expect(await abandoned.catch((error) => error.message)).toBe("left");
  expect(await run("pid")).not.toBe(pid);
  await until(() => isGone(pid));
});
