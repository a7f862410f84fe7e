/** The frame of every page that the service shows: one look, no foreign script, not cached, not framed. */
import { createHash } from "node:crypto";

const commonStyle = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1b1f24; }
form { margin: 1.5rem 0; } small, dt { color: #57606a; } dd { margin: 0 0 .75rem; overflow-wrap: anywhere; }
button { font: inherit; padding: .5rem 1.25rem; border: 0; border-radius: 6px; color: #fff; background: #116329; cursor: pointer; }
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export interface PageFrame {
  /** CSS, added to the common one. */
  readonly style?: string;
  /** The only script of its pages, behind their content. */
  readonly script?: string;
  /**
   * `same-origin` where a form has to tell its own origin: with `no-referrer` a browser hides it from the service, too.
   */
  readonly referrer: "no-referrer" | "same-origin";
}

export interface Page {
  readonly title: string;
  /** HTML; texts in it are escaped already. */
  readonly content: string;
}

export interface Frame {
  readonly text: (page: Page) => string;
  /** @param leadsTo where answers to the page's forms may lead beside the service itself: origins */
  readonly headers: (leadsTo?: readonly string[]) => Readonly<Record<string, string>>;
}

/** Of every answer at an address that is shown to people, pages or not. */
export const privateHeaders = (referrer: PageFrame["referrer"]) =>
  ({
    "Cache-Control": "no-store",
    "Referrer-Policy": referrer,
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
  }) as const;

/** A frame for pages of one kind: its policy names the hashes of its style and script, so that nothing else is applied or run. */
export function pageFrame({ style = "", script, referrer }: PageFrame): Frame {
  const css = commonStyle + style;
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(css)}`,
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
  ];
  return {
    text: ({ title, content }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${css}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${content}
</main>
${script === undefined ? "" : `<script>${script}</script>`}
</body>
</html>
`,
    headers: (leadsTo = []) => ({
      ...privateHeaders(referrer),
      "Content-Type": "text/html; charset=utf-8",
      "X-Frame-Options": "DENY",
      "Content-Security-Policy": [
        ...policy,
        `form-action ${["'self'", ...leadsTo].join(" ")}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join("; "),
    }),
  };
}

/** Text as it may stand in HTML, in attributes too. */
export const escaped = (text: string): string => Bun.escapeHTML(text);
