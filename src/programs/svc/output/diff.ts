/** How two texts differ, as `diff -u` shows it. */
import type { Colours } from "./colours.ts";
import { lines, type Safe } from "./inert.ts";

/** @returns no lines where they are equal */
export async function diffLines(
  former: { readonly name: string; readonly text: string },
  latter: { readonly name: string; readonly text: string },
  { green, red, cyan, bold }: Colours,
): Promise<readonly Safe[]> {
  if (former.text === latter.text) return [];
  const { createTwoFilesPatch } = await import("diff");
  const patch = createTwoFilesPatch(former.name, latter.name, former.text, latter.text, undefined, undefined, {
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
  return patch
    .trimEnd()
    .split("\n")
    .map((text) => {
      const line = lines(text);
      if (text.startsWith("---") || text.startsWith("+++")) return bold(line);
      if (text.startsWith("@@")) return cyan(line);
      if (text.startsWith("+")) return green(line);
      return text.startsWith("-") ? red(line) : line;
    });
}
