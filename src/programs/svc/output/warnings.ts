/** What the service remarks about something that it took. */
import { issueText } from "./failures.ts";
import { say } from "./inert.ts";
import type { Output } from "./output.ts";

interface Warning {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly line?: number | null;
}

export function tellWarnings(out: Output, warnings: readonly Warning[]): void {
  for (const { code, message, path = "", line = null } of warnings)
    out.note(say`${out.noteColours.yellow("warning:")} ${issueText({ path, message, code, line })}`);
}
