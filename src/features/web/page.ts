/** From a page to markdown. Runs in a process of its own: what the page makes the libraries do is not ours to choose. */
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

export interface PageJob {
  readonly html: string;
  /** Of the page, for its relative links. */
  readonly url: string;
}

export interface PageText {
  readonly markdown: string;
}

/** Of a page that is an article, the share of its text that the article has at least. */
const articleShare = 0.25;
const neverShown = ["script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas", "form"];

/** @throws for pages that the libraries cannot take, such as very deep ones */
export function markdownOf({ html, url }: PageJob): PageText {
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  for (const element of document.querySelectorAll(neverShown.join(","))) element.remove();
  resolveLinks(document, url);
  const whole = (document.body?.textContent ?? "").trim().length;
  const title = (document.title ?? "").trim();
  // It changes the document that it is given.
  const article = new Readability(document.cloneNode(true) as Document).parse();
  const isArticle = (article?.textContent ?? "").trim().length > whole * articleShare;
  const content = isArticle ? (article?.content ?? "") : (document.body?.innerHTML ?? "");
  const body = service()
    .turndown(parseHTML(`<html><body>${content}</body></html>`).document.body)
    .trim();
  const heading = (isArticle ? article?.title : title)?.trim() || title;
  const isNamed = heading === "" || body.startsWith(`# ${heading}`);
  return { markdown: isNamed ? body : `# ${heading}\n\n${body}`.trim() };
}

function service(): TurndownService {
  return new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", hr: "---" });
}

/** Links that lead to pages are made whole; others lose where they lead. */
function resolveLinks(document: Document, base: string): void {
  for (const [selector, name] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const url = URL.parse(element.getAttribute(name) ?? "", base);
      if (url !== null && ["http:", "https:", "mailto:"].includes(url.protocol)) element.setAttribute(name, url.href);
      else element.removeAttribute(name);
    }
  }
}
