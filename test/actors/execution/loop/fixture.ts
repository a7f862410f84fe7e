/** Stories up to a dispatch that waits for its result. */
import type { Json } from "../../../../actors/kernel/json.ts";
import { Story } from "../scenario.ts";

export const run = (command = "make check", args?: string[]) => ({
  name: "cmd.run",
  arguments: { command, ...(args === undefined ? {} : { args }) } as Record<string, Json>,
});

export const running = (header = {}) => new Story({ header }).start().launch();

export const bounds = { max_rounds: 50, dispatch_grace_ms: 120_000, tool_parallelism: 8, tool_message_bytes: 65_536 };

/** Up to a dispatch that waits for its result. */
export function dispatched(header = {}): { story: Story; dispatch: string; asked: string } {
  const story = running(header);
  const asked = story.generate();
  story.modelSays({ calls: [run()] });
  return { story, dispatch: story.dispatchOf(asked), asked };
}
