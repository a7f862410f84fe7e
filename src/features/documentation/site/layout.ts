/** Pages as whole documents: head, bar, navigation, text, contents. */
import { inOrder, type Page, type Section } from "../pages/catalogue.ts";
import { escaped } from "../pages/html.ts";
import { relative } from "../pages/links.ts";
import type { Heading, Rendered } from "../pages/markdown.ts";

/** What all pages share. Addresses are below `/docs/`. */
export interface Frame {
  readonly version: string;
  readonly sections: readonly Section[];
  readonly early: string;
  readonly script: string;
  readonly style: string;
  /** Of what is written; the reference of the API brings its own. */
  readonly textStyle: string;
  readonly font: string;
  readonly icon: string;
  readonly searchIndex: string;
}

/** A page of `docs/`. */
export function pageDocument(frame: Frame, page: Page, section: Section, rendered: Rendered): string {
  const isHome = page.path === "README.md";
  const to = (address: string) => escaped(relative(page.address, address));
  const group = section.groups.find(({ pages }) => pages.includes(page))?.title ?? null;
  const trail = isHome
    ? ""
    : `<p class="trail">${[
        section.folder === "" || section.index === null || section.index === page
          ? section.folder === ""
            ? ""
            : "Documentation"
          : `<a href="${to(section.index.address)}">${escaped(section.title)}</a>`,
        group === null ? "" : escaped(group),
      ]
        .filter((part) => part !== "")
        .join('<span aria-hidden="true">/</span>')}</p>`;
  const aside = isHome ? "" : outline(rendered.headings);
  const body = `<div class="columns">
${navigation(frame, page.address)}
<main id="content" tabindex="-1"${isHome ? ' class="home"' : aside === "" ? ' class="wide"' : ""}>
${aside}
<article>
${trail}
<h1>${escaped(rendered.title)}</h1>
${rendered.html}
</article>
${footer(page, section, frame.sections)}
</main>
</div>`;
  return documentOf(frame, page.address, {
    title: isHome ? "svc documentation" : `${rendered.title} · svc`,
    summary: rendered.summary,
    body,
  });
}

/** The reference of the API; its scripts draw it. @param assets addresses below `/docs/` */
export function apiDocument(
  frame: Frame,
  assets: { readonly styles: readonly string[]; readonly scripts: readonly string[] },
): string {
  const body = `${navigation(frame, "api")}
<main id="content" class="api" tabindex="-1">
<h1>API reference</h1>
<p class="lead">Every route of this node with its parameters, bodies, answers and refusals. The same as data, for generators of clients: <a href="../openapi.json">openapi.json</a>. A token that you enter by <em>Authorize</em> stays in this page.</p>
<div id="reference" data-document="../openapi.json"><p class="waiting" role="status">Loading the reference…</p></div>
<noscript><p>The reference is drawn by a script. Without scripts, read <a href="../openapi.json">openapi.json</a> or <a href="reference/routes">the list of routes</a>.</p></noscript>
</main>`;
  return documentOf(frame, "api", { title: "API reference · svc", summary: "Every route of svc", body, ...assets });
}

/** What is shown for an address without a page. @param address as it was asked for, which sets what is relative to it */
export function missingDocument(frame: Frame, address: string): string {
  const home = escaped(relative(address, ""));
  const body = `<div class="columns">
${navigation(frame, address)}
<main id="content" tabindex="-1">
<article>
<h1>There is no such page</h1>
<p>It may have been renamed. <a href="${home}">Begin at the first page</a>, or press <kbd>/</kbd> and search for what you need.</p>
</article>
</main>
</div>`;
  return documentOf(frame, address, { title: "Not found · svc", summary: "", body });
}

interface Content {
  readonly title: string;
  readonly summary: string;
  readonly body: string;
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
}

function documentOf(frame: Frame, address: string, content: Content): string {
  const to = (target: string) => escaped(relative(address, target));
  const styles = [frame.style, ...(content.styles ?? [frame.textStyle])].map(
    (style) => `<link rel="stylesheet" href="${to(style)}">`,
  );
  const scripts = [frame.script, ...(content.scripts ?? [])].map((one) => `<script src="${to(one)}" defer></script>`);
  const summary =
    content.summary === "" ? "" : `<meta name="description" content="${escaped(content.summary.slice(0, 200))}">\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(content.title)}</title>
${summary}<script src="${to(frame.early)}"></script>
<link rel="preload" href="${to(frame.font)}" as="font" type="font/woff2" crossorigin>
${styles.join("\n")}
<link rel="icon" href="${to(frame.icon)}" type="image/svg+xml">
${scripts.join("\n")}
</head>
<body data-root="${to("")}" data-index="${to(frame.searchIndex)}">
<a class="skip" href="#content">Skip to the text</a>
${bar(frame, address)}
${content.body}
</body>
</html>
`;
}

function bar(frame: Frame, address: string): string {
  const to = (target: string) => escaped(relative(address, target));
  const folder = address.includes("/") ? address.slice(0, address.indexOf("/")) : address;
  const links = frame.sections
    .flatMap(({ folder: name, title, index }) =>
      name === "" || index === null ? [] : [{ name, title, to: index.address }],
    )
    .concat([{ name: "api", title: "API", to: "api" }])
    .map(({ name, title, to: target }) => {
      const current = name === folder ? ' aria-current="true"' : "";
      return `<a href="${to(target)}"${current}>${escaped(title)}</a>`;
    });
  return `<header class="bar">
<button type="button" class="menu" aria-expanded="false" aria-controls="navigation" aria-label="Pages"><svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5.5h14M3 10h14M3 14.5h14"/></svg></button>
<a class="brand" href="${to("")}"><img src="${to(frame.icon)}" alt="" width="24" height="24">svc <span>docs</span></a>
<nav class="tabs" aria-label="Parts">${links.join("")}</nav>
<button type="button" class="find" aria-haspopup="dialog"><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="9" cy="9" r="5.5"/><path d="m13.2 13.2 3.8 3.8"/></svg><span>Search</span><kbd aria-hidden="true">/</kbd></button>
<button type="button" class="theme" aria-label="Light or dark"><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="6.5"/><path class="half" d="M10 3.5a6.5 6.5 0 0 1 0 13z"/></svg></button>
<span class="version">${escaped(frame.version)}</span>
</header>`;
}

function navigation(frame: Frame, address: string): string {
  const parts = frame.sections.map((section) => {
    const pages = inOrder(section);
    const isOpen = section.folder === "" || pages.some((page) => page.address === address);
    const lists = section.groups.map(({ title, pages: list }) => {
      const label = title === null ? "" : `<p class="group">${escaped(title)}</p>`;
      return `${label}<ul>${list.map((page) => entry(address, page.address, page.title)).join("")}</ul>`;
    });
    const { index } = section;
    const first =
      index === null ? "" : `<ul>${entry(address, index.address, section.folder === "" ? "Welcome" : "Overview")}</ul>`;
    const api = section.folder === "" ? `<ul>${entry(address, "api", "API reference")}</ul>` : "";
    return `<details${isOpen ? " open" : ""}><summary>${escaped(section.title)}</summary>${first}${lists.join("")}${api}</details>`;
  });
  return `<nav id="navigation" class="navigation" aria-label="Pages">${parts.join("\n")}</nav>`;
}

function entry(from: string, to: string, title: string): string {
  const current = from === to ? ' aria-current="page"' : "";
  return `<li><a href="${escaped(relative(from, to))}"${current}>${escaped(title)}</a></li>`;
}

function outline(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ depth, text, anchor }) => `<li class="depth-${depth}"><a href="#${escaped(anchor)}">${escaped(text)}</a></li>`,
  );
  return `<aside class="outline" aria-label="On this page"><details><summary>On this page</summary><ul>${items.join("")}</ul></details></aside>`;
}

function footer(page: Page, section: Section, sections: readonly Section[]): string {
  const order = inOrder(section);
  const at = order.indexOf(page);
  const before = order[at - 1];
  const following = sections[sections.indexOf(section) + 1];
  const beyond = following === undefined ? undefined : inOrder(following)[0];
  // The first page leads into the first folder, past the other pages beside it; the last one of a folder into the next.
  const isStart = section.folder === "";
  const after = isStart && at === 0 ? beyond : (order[at + 1] ?? (isStart ? undefined : beyond));
  const link = (kind: string, word: string, target: Page | undefined) =>
    target === undefined
      ? ""
      : `<a class="${kind}" rel="${kind}" href="${escaped(relative(page.address, target.address))}"><span>${word}</span>${escaped(target.title)}</a>`;
  const text = escaped(relative(page.address, page.path));
  return `<footer><nav class="around" aria-label="Around this page">${link("prev", "Before", before)}${link("next", "Next", after)}</nav>
<p class="source"><a href="${text}">This page as Markdown</a></p></footer>`;
}
