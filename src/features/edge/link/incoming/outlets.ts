/** How much output of each command may be passed on, whatever its daemon sends. */

/** Where the output of a command that is with its daemon goes. */
export interface CommandOutlet {
  readonly runId: string;
  /** Of its output, over all links of it. */
  readonly maxBytes: number;
}

/** Commands of this node whose output is counted; the oldest are forgotten above it. */
const maxCounted = 20_000;

/** Counts what was passed on of each command, over all its links to this node. */
export function createOutlets() {
  const passed = new Map<string, number>();
  return {
    /** @returns how many of so many bytes may be passed on still; they count as passed on */
    take(commandId: string, { maxBytes }: CommandOutlet, bytes: number): number {
      const before = passed.get(commandId) ?? 0;
      const taken = Math.min(bytes, Math.max(0, maxBytes - before));
      passed.delete(commandId);
      passed.set(commandId, before + taken);
      if (passed.size > maxCounted) for (const oldest of passed.keys()) if (passed.delete(oldest)) break;
      return taken;
    },
    /** Nothing more of the command is to come. */
    forget: (commandId: string): void => void passed.delete(commandId),
  };
}
