/** Which pages there are, and in which order they are read: as the README of each folder lists them. */
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { Marked, type Token, walkTokens } from "marked";
import { type Addresses, addressOf } from "./links.ts";
import { plainText } from "./markdown.ts";

export interface Page {
  /** Below `docs/`: `guide/agent.md`. */
  readonly path: string;
  /** Below `/docs/`: `guide/agent`. */
  readonly address: string;
  readonly title: string;
  readonly source: string;
}

/** Pages below one heading of a folder's README; without title before its first heading. */
export interface Group {
  readonly title: string | null;
  readonly pages: readonly Page[];
}

/** A folder with its pages; the pages of `docs/` itself are the first one. */
export interface Section {
  /** Empty for `docs/` itself. */
  readonly folder: string;
  readonly title: string;
  /** Its README; null where it has none. */
  readonly index: Page | null;
  readonly groups: readonly Group[];
}

export interface Catalogue {
  readonly sections: readonly Section[];
  /** By their paths. */
  readonly pages: ReadonlyMap<string, Page>;
  readonly addresses: Addresses;
}

/**
 * Reads every page.
 * @param root absolute path of `docs/` @param paths of all files that the site serves, below it
 */
export async function readCatalogue(root: string, paths: readonly string[]): Promise<Catalogue> {
  const pages = new Map<string, Page>();
  for (const path of paths.filter((one) => one.endsWith(".md"))) {
    const source = await readFile(join(root, path), "utf8");
    pages.set(path, { path, address: addressOf(path), title: titleOf(source) ?? posix.basename(path, ".md"), source });
  }
  const addresses = new Map(
    paths.map((path) => {
      const page = pages.get(path);
      return [path, { address: page?.address ?? path, title: page?.title ?? null }];
    }),
  );
  const home = pages.get("README.md");
  const listed = home === undefined ? [] : listedIn(home).flatMap((group) => group.paths);
  // Folders in the order in which the first page leads to them, then those that it leaves out.
  const folders = new Set([
    ...listed.map((path) => posix.dirname(path)),
    ...[...pages.keys()].map((path) => posix.dirname(path)).toSorted(),
  ]);
  const sections = [".", ...[...folders].filter((folder) => folder !== ".")].map((folder) => sectionOf(folder, pages));
  return {
    sections: sections.filter((section) => section.index !== null || section.groups.length > 0),
    pages,
    addresses,
  };
}

function sectionOf(folder: string, pages: ReadonlyMap<string, Page>): Section {
  const own = [...pages.values()].filter((page) => posix.dirname(page.path) === folder);
  const index = own.find((page) => posix.basename(page.path) === "README.md") ?? null;
  const left = new Map(own.filter((page) => page !== index).map((page) => [page.path, page]));
  const groups: Group[] = [];
  for (const { title, paths } of index === null ? [] : listedIn(index)) {
    const found = paths.flatMap((path) => {
      const page = left.get(path);
      left.delete(path);
      return page ?? [];
    });
    // The first page of all leads everywhere: its headings are no groups.
    if (found.length > 0) groups.push({ title: folder === "." ? null : title, pages: found });
  }
  if (left.size > 0)
    groups.push({ title: groups.length === 0 || folder === "." ? null : "More", pages: [...left.values()] });
  const title = folder === "." ? "Start" : (index?.title ?? folder);
  return { folder: folder === "." ? "" : folder, title, index, groups };
}

/** The pages that a README leads to, each once, below its headings of the second level. */
function listedIn({ path, source }: Page): { readonly title: string | null; readonly paths: readonly string[] }[] {
  const lists: { title: string | null; paths: string[] }[] = [{ title: null, paths: [] }];
  const note = (token: Token) => {
    if (token.type !== "link" || /^[a-z]+:/i.test(token.href)) return;
    const [target = ""] = String(token.href).split("#");
    if (!target.endsWith(".md")) return;
    const full = posix.normalize(posix.join(posix.dirname(path), target));
    if (!lists.some((list) => list.paths.includes(full))) lists.at(-1)?.paths.push(full);
  };
  for (const token of new Marked().lexer(source)) {
    if (token.type === "heading" && token.depth === 2) lists.push({ title: plainText(token.tokens), paths: [] });
    else void walkTokens([token], note);
  }
  return lists;
}

/** The text of the first heading. */
function titleOf(source: string): string | null {
  const heading = new Marked().lexer(source.slice(0, titleWithin)).find((token) => token.type === "heading");
  return heading === undefined ? null : plainText([heading]);
}

/** Characters in which the title of a page stands. */
const titleWithin = 400;

/** The section's pages in the order of reading. */
export const inOrder = (section: Section): readonly Page[] => [
  ...(section.index === null ? [] : [section.index]),
  ...section.groups.flatMap((group) => group.pages),
];
