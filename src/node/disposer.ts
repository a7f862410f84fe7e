/** What was started, to be stopped in the reverse order. */
export class Disposer {
  private readonly steps: (() => Promise<unknown> | unknown)[] = [];

  push(step: () => Promise<unknown> | unknown): void {
    this.steps.push(step);
  }

  /** Last in, first out; what fails to stop does not keep the rest from stopping. */
  async dispose(report: (error: unknown) => void): Promise<void> {
    for (const step of this.steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        report(error);
      }
    }
  }
}
