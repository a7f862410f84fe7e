/** Pages of the documentation, from Markdown to HTML: anchors, links, tables, code, and nothing that runs. */
import { expect, test } from "bun:test";
import { createAnchors } from "../../../src/features/documentation/pages/anchors.ts";
import { highlighted } from "../../../src/features/documentation/pages/highlight.ts";
import { addressOf, relative, targetOf } from "../../../src/features/documentation/pages/links.ts";
import { render } from "../../../src/features/documentation/pages/markdown.ts";
import { wordsOf } from "../../../src/features/documentation/pages/search-words.ts";

const addresses = new Map(
  [
    "README.md",
    "guide/README.md",
    "guide/agent.md",
    "reference/errors.md",
    "pictures/run.svg",
    "pictures/page.webp",
  ].map((path) => [
    path,
    { address: path.endsWith(".md") ? addressOf(path) : path, title: path === "reference/errors.md" ? "Errors" : null },
  ]),
);
const html = (text: string): string => render("guide/agent.md", `# Title\n\n${text}`, addresses).html;

test.each([
  ["README.md", ""],
  ["guide/README.md", "guide/"],
  ["guide/agent.md", "guide/agent"],
  ["CONTRIBUTING.md", "contributing"],
])("%s stands at %p", (path, address) => expect(addressOf(path)).toBe(address));

test.each([
  ["", "guide/agent", "guide/agent"],
  ["guide/agent", "", "../"],
  ["guide/", "guide/agent", "agent"],
  ["guide/agent", "guide/", "./"],
  ["guide/agent", "reference/errors", "../reference/errors"],
  ["a/b/c", "a/d", "../d"],
])("from %p to %p is %p", (from, to, way) => {
  expect(relative(from, to)).toBe(way);
  const base = "http://host/below/docs/";
  expect(new URL(way, base + from).href).toBe(base + to);
});

test.each([
  ["../reference/errors.md#rate_limited", "../reference/errors#rate_limited"],
  ["#here", "#here"],
  ["README.md", "./"],
  ["../guide", "./"],
  ["/openapi.json", "../../openapi.json"],
  ["https://example.com/", "https://example.com/"],
])("the link %s leads to %s", (link, href) => expect(targetOf("guide/agent.md", link, addresses)?.href).toBe(href));

test.each(["../../src/main.ts", "nothing.md", "javascript:alert(1)", "data:text/html,x", "//example.com/x"])(
  "the link %s leads nowhere",
  (link) => {
    expect(targetOf("guide/agent.md", link, addresses)).toBeNull();
    const rendered = render("guide/agent.md", `# T\n\n[a text](${link})`, addresses);
    expect(rendered.html).toBe("<p>a text</p>\n");
    expect(rendered.deadLinks).toEqual([link]);
  },
);

test("what looks like an element is shown as it is written", () => {
  const shown = html(
    "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\nan <id> and `<b>`\n\n<!-- a mark -->",
  );
  expect(shown).not.toMatch(/<(?:script|img|id|b)\b/);
  expect(shown).toContain("&lt;script&gt;");
  expect(shown).not.toContain("a mark");
});

test("what a command prints is told apart from what a reader types", () => {
  expect(html("```sh\nls\n```")).toStartWith('<div class="code"><pre');
  expect(html("```text\na b\n```")).toStartWith('<div class="code output"><pre');
});

test("headings have anchors, the second of a name one of its own", () => {
  const { headings, html: text } = render("x.md", "# T\n\n## One `two`\n\n## One two\n\n### One two", addresses);
  expect(headings.map(({ anchor }) => anchor)).toEqual(["one-two", "one-two-1", "one-two-2"]);
  expect(text).toContain('<h2 id="one-two">');
  expect(createAnchors()("A b, c!")).toBe("a-b-c");
});

test("a table scrolls by keyboard, and rows that begin with code can be linked to", () => {
  const shown = html("| Code | Meaning |\n| --- | --- |\n| `rate_limited` | a \\| b |\n| plain | c |");
  expect(shown).toContain('role="region" tabindex="0" aria-label="Table: Code, Meaning"');
  expect(shown).toContain('<tr id="rate_limited"><td><code class="word">rate_limited</code></td><td>a | b</td></tr>');
  expect(shown).toContain("<tr><td>plain</td>");
});

test("a search finds parts by their headings and rows by their names", () => {
  const text = "# T\n\nfirst\n\n## Part\n\nsecond\n\n| A | B |\n| - | - |\n| `SVC_X` | third |";
  expect(render("x.md", text, addresses).pieces).toEqual([
    { anchor: "", headings: [], text: "first", isRow: false },
    { anchor: "svc_x", headings: ["Part", "SVC_X"], text: "third", isRow: true },
    { anchor: "part", headings: ["Part"], text: "second", isRow: false },
  ]);
  expect(wordsOf("`SVC_HTTP_PORT`, fs.read.")).toEqual([
    "SVC_HTTP_PORT",
    "SVC",
    "HTTP",
    "PORT",
    "fs.read",
    "fs",
    "read",
  ]);
});

test("links say the titles of pages that they name by files; outside ones are marked", () => {
  expect(html("[errors.md](../reference/errors.md)")).toContain('<a href="../reference/errors">Errors</a>');
  expect(html("[x](https://example.com/)")).toContain('class="outside" rel="noreferrer"');
  expect(html("![a run](../pictures/run.svg)")).toContain(
    '<figure tabindex="0"><img src="../pictures/run.svg" alt="a run"',
  );
  expect(html("![a page](../pictures/page.webp)")).toContain(
    '<figure class="photo"><a href="../pictures/page.webp"><img src="../pictures/page.webp"',
  );
});

test.each([
  [
    "yaml",
    'a: "b" # c\nn: 3',
    '<span class="key">a</span>: <span class="string">&quot;b&quot;</span> <span class="comment"># c</span>\n<span class="key">n</span>: <span class="number">3</span>',
  ],
  [
    "json",
    '{"a": "<b>"}',
    '{<span class="key">&quot;a&quot;</span>: <span class="string">&quot;&lt;b&gt;&quot;</span>}',
  ],
  ["sh", "npm start    # begins", 'npm start    <span class="comment"># begins</span>'],
  ["ts", "a < b", "a &lt; b"],
])("%s is marked by classes alone", (language, text, marked) => {
  expect(highlighted(text, language)).toBe(marked);
});
