/** A process that does guarded work, one job at a time. */
import { processorMs } from "../processes/process-table.ts";
import { ready } from "./serve.ts";

/** The budget was spent before the work was done. */
export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded";
}

/** It ended by itself, or was ended by the system. */
export class ChildEnded extends Error {
  override readonly name = "ChildEnded";
}

/** How long a child may take to load before its budget begins, in milliseconds. */
const loadAllowance = 10_000;
/**
 * Times its budget that a job may take in all where the machine is busy: until then the processor time that it has used
 * counts, so that other load refuses no document.
 */
const patience = 5;
const newline = 0x0a;

export class Child {
  private readonly child: Bun.Subprocess<"pipe", "pipe", "ignore">;
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private loaded = false;
  private ended = false;
  jobs = 0;

  constructor(readonly program: string) {
    this.child = Bun.spawn([process.execPath, program], {
      env: {},
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    // It ends by itself when this process, and with it the pipe, is gone.
    this.child.unref();
    this.reader = this.child.stdout.getReader();
  }

  get isAlive(): boolean {
    return !this.ended && this.child.exitCode === null;
  }

  /**
   * Does one job. A child that did not answer is dead afterwards.
   * @param budgetMs of processor time, where the system tells it, else of time; counted from the moment the program is
   *   loaded
   * @throws BudgetExceeded, the signal's reason, ChildEnded
   */
  async run(input: string, budgetMs: number, signal: AbortSignal | undefined): Promise<unknown> {
    let isSpent = false;
    const kill = () => this.kill();
    const expire = () => {
      isSpent = true;
      this.kill();
    };
    const { pid } = this.child;
    const watch = (began: number | null, leftMs: number) => {
      const used = began === null ? null : (processorMs(pid) ?? Number.POSITIVE_INFINITY) - began;
      if (used === null || used >= budgetMs || leftMs <= 0) return expire();
      const nextMs = Math.min(Math.max(budgetMs - used, 10), leftMs);
      timer = setTimeout(() => watch(began, leftMs - nextMs), nextMs);
    };
    this.jobs += 1;
    let timer = setTimeout(expire, loadAllowance);
    signal?.addEventListener("abort", kill, { once: true });
    let answer: string | null = null;
    try {
      signal?.throwIfAborted();
      if (this.loaded || (await this.line()) === ready) {
        this.loaded = true;
        clearTimeout(timer);
        const began = processorMs(pid);
        timer = setTimeout(() => watch(began, budgetMs * (patience - 1)), budgetMs);
        await this.send(`${input}\n`);
        answer = await this.line();
      }
      signal?.throwIfAborted();
      if (answer !== null) return JSON.parse(answer);
      if (isSpent) throw new BudgetExceeded(`The work took longer than ${budgetMs} ms`);
      throw new ChildEnded(`${this.program} ended without an answer`);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
      if (answer === null) this.kill();
    }
  }

  kill(): void {
    this.ended = true;
    this.child.kill("SIGKILL");
  }

  /** A child that dies while it is written to shows by its missing answer. */
  private async send(text: string): Promise<void> {
    try {
      this.child.stdin.write(text);
      await this.child.stdin.flush();
    } catch {}
  }

  /** The next line it writes; null when it ended before. */
  private async line(): Promise<string | null> {
    const pieces: Uint8Array[] = [];
    for (;;) {
      const { value, done } = await this.reader.read();
      if (done) return null;
      pieces.push(value);
      if (value.at(-1) === newline) return Buffer.concat(pieces).toString("utf8").slice(0, -1);
    }
  }
}
