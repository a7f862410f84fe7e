/**
 * Work that hostile input can make endless (a regular expression, a schema with patterns, a walk over
 * a huge tree) runs in a child process with a time budget and is killed when the budget is spent.
 *
 * Not a Worker: measured on Bun 1.4, a thread inside a compiled regular expression does not notice
 * `terminate()` and burns its core for as long as the match takes. A process always dies, and one
 * costs about 15 ms.
 */
import { availableParallelism } from "node:os";

/** The budget was spent before the work was done. */
export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded";
}

/** Children of this node that run at once; further work waits its turn, so that budgets mean something. */
const slots = {
  free: Math.max(2, availableParallelism()),
  waiting: [] as (() => void)[],
};
/** How long a child may take to load before its budget begins, in milliseconds. */
const loadAllowance = 10_000;
const ready = "\u0001";

/**
 * Runs one job in a fresh process.
 * @param program path of a module that calls `serveGuarded`
 * @param input   anything JSON can carry
 * @param budgetMs counted from the moment the child has read its input
 * @throws BudgetExceeded, the signal's reason when aborted, Error when the child failed
 */
export async function runGuarded(
  program: string,
  input: unknown,
  budgetMs: number,
  signal?: AbortSignal,
): Promise<unknown> {
  await takeSlot();
  try {
    signal?.throwIfAborted();
    return await runChild(program, JSON.stringify(input), budgetMs, signal);
  } finally {
    releaseSlot();
  }
}

async function runChild(program: string, input: string, budgetMs: number, signal?: AbortSignal): Promise<unknown> {
  const child = Bun.spawn([process.execPath, program], {
    env: {},
    stdin: new TextEncoder().encode(input),
    stdout: "pipe",
    stderr: "ignore",
  });
  let spent = false;
  const kill = () => child.kill("SIGKILL");
  const expire = () => {
    spent = true;
    kill();
  };
  let timer = setTimeout(expire, loadAllowance);
  signal?.addEventListener("abort", kill, { once: true });
  try {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      if (text === "") {
        clearTimeout(timer);
        timer = setTimeout(expire, budgetMs);
      }
      text += decoder.decode(chunk, { stream: true });
    }
    signal?.throwIfAborted();
    if (spent) throw new BudgetExceeded(`The work took longer than ${budgetMs} ms`);
    const reply = text.slice(ready.length);
    if (reply === "") throw new Error(`${program} ended without an answer`);
    return JSON.parse(reply);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", kill);
    kill();
  }
}

/** The child's side: reads the job from standard input, answers on standard output, ends. */
export async function serveGuarded(work: (input: never) => unknown): Promise<void> {
  const input = JSON.parse(await Bun.stdin.text());
  await Bun.write(Bun.stdout, ready);
  await Bun.write(Bun.stdout, JSON.stringify(work(input as never)));
}

function takeSlot(): Promise<void> | void {
  if (slots.free > 0) {
    slots.free -= 1;
    return;
  }
  return new Promise((resolve) => slots.waiting.push(resolve));
}

function releaseSlot(): void {
  const next = slots.waiting.shift();
  if (next) next();
  else slots.free += 1;
}
