/** Values that stand in no command line. */
import { usageFailure } from "../../process/exit.ts";
import type { Io } from "../../process/io.ts";

/** Of standard input, without the line break at its end. @throws Failure `usage` at a terminal, which would show it */
export async function secretText(io: Io): Promise<string> {
  if (io.isInteractive) throw usageFailure("The value is read from standard input, or from a file by --value @FILE");
  const text = (await io.readInput()).replace(/\r?\n$/, "");
  if (text === "") throw usageFailure("Standard input holds no value");
  return text;
}
