/** What was started, to be stopped in the reverse order. */
export class Disposer {
  private readonly steps: Step[] = [];

  /** @param always done even when the time is up: it would outlive the process otherwise */
  push(run: Step["run"], { always = false }: { readonly always?: boolean } = {}): void {
    this.steps.push({ run, always });
  }

  /**
   * Last in, first out; what fails to stop does not keep the rest from stopping.
   * @param withinMs then what is left is not waited for; without a limit when absent
   */
  async dispose(report: (error: unknown) => void, withinMs: number | null = null): Promise<void> {
    const { promise: timeIsUp, resolve } = Promise.withResolvers<typeof late>();
    const timer = withinMs === null ? undefined : setTimeout(resolve, withinMs, late);
    let isLate = false;
    for (const { run, always } of this.steps.splice(0).reverse()) {
      if (isLate && !always) continue;
      try {
        const done = Promise.resolve(run());
        // One that is given up may fail later.
        done.catch(() => {});
        isLate ||= (await (always ? done : Promise.race([done, timeIsUp]))) === late;
      } catch (error) {
        report(error);
      }
    }
    clearTimeout(timer);
  }
}

const late = Symbol("late");

interface Step {
  readonly run: () => Promise<unknown> | unknown;
  readonly always: boolean;
}
