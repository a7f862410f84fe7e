/** The blocks of shell in the pages, with what their source says of how they run. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

export interface Block {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** Why it cannot run here, by `<!-- not run: … -->` above it. */
  readonly notRun: string | null;
  /** Its exit code, by `<!-- ends with: 4 -->` above it; 0 when it says none. */
  readonly endsWith: number;
}

const root = join(import.meta.dir, "../../../..");

/** README.md and every page of `docs/`, by path. */
export const pages: readonly string[] = ["README.md", ...new Glob("docs/**/*.md").scanSync(root)].sort();

/** Blocks of one page, in order. Languages that a shell might run are all read, so none is left out by its name. */
export function blocksOf(page: string, source = readFileSync(join(root, page), "utf8")): readonly Block[] {
  const blocks: Block[] = [];
  const lines = source.split("\n");
  let mark = "";
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = "", fence, language] = /^( *)(`{3,})([\w-]*)/.exec(lines[at] ?? "") ?? [];
    if (fence === undefined) {
      if ((lines[at] ?? "").trim() !== "") mark = lines[at] ?? "";
      continue;
    }
    const from = at + 1;
    at = lines.findIndex((text, index) => index >= from && text.trim() === fence);
    if (at < 0) throw new Error(`${page}:${from} is not closed`);
    if (/^(?:sh|bash|shell|console|zsh)$/.test(language ?? "")) {
      const text = lines.slice(from, at).map((one) => one.slice(indent.length));
      blocks.push({
        page,
        line: from,
        text: text.join("\n"),
        notRun: /^ *<!-- not run: (.+) -->$/.exec(mark)?.[1] ?? null,
        endsWith: Number(/^ *<!-- ends with: (\d+) -->$/.exec(mark)?.[1] ?? 0),
      });
    }
    mark = "";
  }
  return blocks;
}

/** A block that starts the service and stays in its terminal, perhaps with settings before it. */
export const startsService = ({ text }: Block): boolean => /^(?:\w+=\S+ )*npm start(?: +#.*)?$/.test(text.trim());
