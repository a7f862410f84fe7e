/** The index that browsers search: made once, from every page. */
import { setImmediate } from "node:timers/promises";
import MiniSearch from "minisearch";
import type { Piece } from "../pages/markdown.ts";
import { type Found, searchOptions } from "../pages/search-words.ts";

export interface Searched {
  readonly title: string;
  readonly address: string;
  readonly section: string;
  readonly pieces: readonly Piece[];
}

interface Indexed extends Found {
  readonly id: number;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

const snippetLength = 160;

/** As JSON that `MiniSearch.loadJSON` reads. Lets other work of the node run between pages. */
export async function searchIndex(pages: AsyncIterable<Searched>): Promise<string> {
  const index = new MiniSearch<Indexed>(searchOptions);
  let id = 0;
  for await (const { title, address, section, pieces } of pages) {
    for (const { anchor, headings, text } of pieces) {
      // A part without text is found by its heading; the beginning of a page by its title.
      index.add({
        id: ++id,
        title: anchor === "" ? title : "",
        page: title,
        heading: headings.at(-1) ?? "",
        text,
        path: headings,
        href: anchor === "" ? address : `${address}#${anchor}`,
        snippet: text.slice(0, snippetLength),
        section,
      });
    }
    await setImmediate();
  }
  return JSON.stringify(index);
}
