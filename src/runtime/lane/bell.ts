/** Wakes the lane, where it waits for something to do. */
export class Bell {
  private wake: (() => void) | null = null;

  ring(): void {
    this.wake?.();
  }

  /** Resolves at the next ring. */
  async rung(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.wake = null;
  }
}
