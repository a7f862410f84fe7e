/** A page of `docs/` as HTML, with its headings and with its text in the pieces that a search finds. */
import { Marked, type Token, type Tokens } from "marked";
import { createAnchors } from "./anchors.ts";
import { highlighted } from "./highlight.ts";
import { escaped } from "./html.ts";
import { type Addresses, addressOf, relative, targetOf } from "./links.ts";

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

/** What a search finds: a part of a page below one heading, or a row of a table. */
export interface Piece {
  readonly anchor: string;
  /** Headings above it, from the outermost, without the page's own; of a row its first cell as well. */
  readonly headings: readonly string[];
  readonly text: string;
  readonly isRow: boolean;
}

export interface Rendered {
  readonly title: string;
  /** Behind the title. */
  readonly html: string;
  /** The first paragraph, as text. */
  readonly summary: string;
  readonly headings: readonly Heading[];
  readonly pieces: readonly Piece[];
  /** Links whose target the site has not, as they are written. */
  readonly deadLinks: readonly string[];
}

/** What nodes serve for readers: where a page names it, the site leads there. */
const served = new Set(["/docs/api", "/openapi.json", "/schemas/agent.json", "/schemas/workflow.json", "/console/"]);

/** @param page path below `docs/` @param source Markdown of GitHub's kind; its first heading is the title */
export function render(page: string, source: string, addresses: Addresses): Rendered {
  const tokens = new Marked().lexer(source);
  const headings: Heading[] = [];
  const deadLinks: string[] = [];
  const anchors = createAnchors();
  const pieces = new Pieces();
  let title = "";

  const marked = new Marked({
    renderer: {
      heading(token) {
        const text = plainText(token.tokens);
        const anchor = anchors(text);
        if (token.depth === 1 && title === "") {
          title = text;
          return "";
        }
        headings.push({ depth: token.depth, text, anchor });
        pieces.open(token.depth, text, anchor);
        const label = `<a class="anchor" href="#${escaped(anchor)}" aria-label="Link to ${escaped(text)}"></a>`;
        return `<h${token.depth} id="${escaped(anchor)}">${this.parser.parseInline(token.tokens)}${label}</h${token.depth}>\n`;
      },
      code({ text, lang = "" }) {
        const language = /^[\w-]+/.exec(lang)?.[0] ?? "text";
        pieces.add(text);
        // What a command prints is told apart from what a reader types.
        return `<div class="code${language === "text" ? " output" : ""}"><pre tabindex="0"><code class="language-${language}">${highlighted(text, language)}\n</code></pre></div>\n`;
      },
      paragraph(token) {
        pieces.add(plainText(token.tokens));
        const picture = soleImage(token.tokens);
        const inner = this.parser.parseInline(token.tokens);
        if (picture === null) return `<p>${inner}</p>\n`;
        const caption = picture.title ? `<figcaption>${escaped(picture.title)}</figcaption>` : "";
        const target = targetOf(page, picture.href, addresses);
        // What was photographed is larger than the column: it opens by itself.
        if (target !== null && !target.isOutside && /\.(?:webp|png|jpe?g)$/.test(target.href))
          return `<figure class="photo"><a href="${escaped(target.href)}">${inner}</a>${caption}</figure>\n`;
        return `<figure tabindex="0">${inner}${caption}</figure>\n`;
      },
      list(token) {
        for (const item of token.items) pieces.add(plainText(item.tokens));
        return false;
      },
      table(token) {
        const name = (cells: readonly Tokens.TableCell[]) => rowName(cells);
        const head = token.header
          .map((cell) => `<th scope="col">${this.parser.parseInline(cell.tokens)}</th>`)
          .join("");
        const body = token.rows.map((cells) => {
          const text = cells.map((cell) => plainText(cell.tokens));
          const key = name(cells);
          const anchor = key === null ? null : anchors(key);
          if (key === null || anchor === null) pieces.add(text.join(" "));
          else pieces.row(key, anchor, text.slice(1).join(" "));
          const inner = cells.map((cell) => `<td>${this.parser.parseInline(cell.tokens)}</td>`).join("");
          return `<tr${anchor === null ? "" : ` id="${escaped(anchor)}"`}>${inner}</tr>`;
        });
        const columns = token.header.map((cell) => plainText(cell.tokens)).join(", ");
        // Tables of one page with the same columns are told apart by where they stand.
        const label = [headings.at(-1)?.text, columns].filter((part) => part !== undefined).join(": ");
        return `<div class="table${token.header.length > 3 ? " many" : ""}" role="region" tabindex="0" aria-label="Table: ${escaped(label)}"><table><thead><tr>${head}</tr></thead><tbody>${body.join("\n")}</tbody></table></div>\n`;
      },
      link({ href, title: hint, tokens: inner }) {
        const written = this.parser.parseInline(inner);
        const target = targetOf(page, href, addresses);
        if (target === null) {
          deadLinks.push(href);
          return written;
        }
        // Where a page is named by its file, the site says its title.
        const text = target.title !== null && /^[\w./-]+\.md$/.test(written) ? escaped(target.title) : written;
        const kind = target.isOutside ? ' class="outside" rel="noreferrer"' : "";
        return `<a href="${escaped(target.href)}"${kind}${hint ? ` title="${escaped(hint)}"` : ""}>${text}</a>`;
      },
      codespan({ text }) {
        // Short ones are not broken at the end of a line.
        const kind = text.length <= 28 && !/\s/.test(text) ? ' class="word"' : "";
        const code = `<code${kind}>${escaped(text)}</code>`;
        return served.has(text) ? `<a href="${relative(`docs/${addressOf(page)}`, text.slice(1))}">${code}</a>` : code;
      },
      image({ href, text }) {
        const target = targetOf(page, href, addresses);
        if (target === null || target.isOutside) {
          deadLinks.push(href);
          return escaped(text);
        }
        return `<img src="${escaped(target.href)}" alt="${escaped(text)}" loading="lazy">`;
      },
      // Pages are text: what looks like an element is shown as it is written, and comments are not shown.
      html({ text }) {
        return /^\s*<!--[\s\S]*-->\s*$/.test(text) ? "" : escaped(text);
      },
    },
  });
  const html = marked.parser(tokens);
  const first = tokens.find((token): token is Tokens.Paragraph => token.type === "paragraph");
  return {
    title: title === "" ? page : title,
    html,
    summary: first === undefined ? "" : plainText(first.tokens),
    headings,
    pieces: pieces.all(),
    deadLinks,
  };
}

/** Collects the text between headings. */
class Pieces {
  private readonly done: Piece[] = [];
  private above: { readonly depth: number; readonly text: string }[] = [];
  private anchor = "";
  private text: string[] = [];

  open(depth: number, text: string, anchor: string): void {
    this.close();
    this.above = [...this.above.filter((one) => one.depth < depth), { depth, text }];
    this.anchor = anchor;
  }

  add(text: string): void {
    this.text.push(text);
  }

  row(name: string, anchor: string, text: string): void {
    this.done.push({ anchor, headings: [...this.above.map((one) => one.text), name], text, isRow: true });
  }

  all(): readonly Piece[] {
    this.close();
    return this.done;
  }

  private close(): void {
    const text = this.text.join(" ").replace(/\s+/g, " ").trim();
    this.done.push({ anchor: this.anchor, headings: this.above.map((one) => one.text), text, isRow: false });
    this.text = [];
  }
}

/** Rows that begin with one word of code have a name, and so an anchor: settings, codes, fields. */
function rowName([first]: readonly Tokens.TableCell[]): string | null {
  const [token, ...others] = first?.tokens ?? [];
  return token?.type === "codespan" && others.length === 0 && /^[\w.:[\]*/{} -]+$/.test(token.text) ? token.text : null;
}

function soleImage(tokens: readonly Token[]): Tokens.Image | null {
  const [token, ...others] = tokens;
  return token?.type === "image" && others.length === 0 ? (token as Tokens.Image) : null;
}

/** Text of tokens without their marks. */
export function plainText(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token): string => {
      if (token.type === "br" || token.type === "space") return " ";
      if (token.type === "html") return "";
      if (token.type === "list") return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(" ");
      if ("tokens" in token && token.tokens !== undefined) return plainText(token.tokens);
      return "text" in token && typeof token.text === "string" ? unescapedText(token.text) : "";
    })
    .join("");
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };
const unescapedText = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => named[name] ?? whole);
