/** The API document as one page that needs nothing but itself. */
import type { OpenApiDocument, Operation } from "./openapi.ts";

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function docsPage(document: OpenApiDocument): string {
  const entries: Entry[] = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const sections = Map.groupBy(entries, ({ operation }) => operation.tags[0] ?? "service");
  const links = [...sections.keys()].map((tag) => `<a href="#${anchor(tag)}">${escaped(tag)}</a>`).join("\n");
  const body = [...sections].map(([tag, list]) => section(tag, list)).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc API</title>
<style>${style}</style>
</head>
<body>
<header><h1>svc API <small>${escaped(document.info.version)}</small></h1>
<p>${escaped(document.info.description)} The same as data: <a href="/openapi.json">/openapi.json</a></p>
<p>Send <code>Authorization: Bearer &lt;token&gt;</code>. Every refusal is <code>{error, code, request_id}</code>.</p></header>
<nav>${links}</nav>
<main>${body}</main>
</body>
</html>
`;
}

function section(tag: string, entries: readonly Entry[]): string {
  return `<section id="${anchor(tag)}"><h2>${escaped(tag)}</h2>\n${entries.map(entry).join("\n")}</section>`;
}

function entry({ method, path, operation }: Entry): string {
  const parts = [
    operation.description ? `<p>${escaped(operation.description)}</p>` : "",
    operation.security.length === 0 ? "<p>No bearer token needed</p>" : "",
    parameterTable(operation),
    ...Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) => block(`Body ${type}`, schema)),
    ...Object.entries(operation.responses)
      .filter(([status]) => status !== "default")
      .map(([status, response]) => block(`${status} ${response.description}`, schemaOf(response.content))),
  ];
  return `<details><summary><b class="${method.toLowerCase()}">${method}</b> <code>${escaped(path)}</code> <span>${escaped(operation.summary)}</span></summary>
${parts.filter((part) => part !== "").join("\n")}</details>`;
}

function parameterTable(operation: Operation): string {
  // What all operations share is not repeated.
  const parameters = operation.parameters.flatMap((one) => ("$ref" in one ? [] : [one]));
  if (parameters.length === 0) return "";
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${place}${required ? ", required" : ""}</td><td>${escaped(JSON.stringify(schema))}</td><td>${escaped(description ?? "")}</td></tr>`,
  );
  return `<table>${rows.join("")}</table>`;
}

function block(title: string, schema: unknown): string {
  const text = schema === undefined ? "" : `<pre>${escaped(JSON.stringify(schema, null, 2))}</pre>`;
  return `<h4>${escaped(title)}</h4>${text}`;
}

function schemaOf(content: unknown): unknown {
  const [first] = Object.values((content ?? {}) as Record<string, { schema?: unknown }>);
  return first?.schema;
}

const anchor = (tag: string): string => tag.replace(/[^a-z0-9]+/gi, "-");

function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

const style = `
:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1.5rem}
h1 small{font-weight:400;opacity:.6;font-size:1rem}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1rem;padding:.6rem 0;border-block:1px solid var(--line)}
h2{margin:2rem 0 .5rem;text-transform:capitalize}
details{border:1px solid var(--line);border-radius:6px;margin:.35rem 0;padding:.45rem .8rem}
summary{cursor:pointer}summary span{opacity:.75;margin-left:.4rem}
b{display:inline-block;min-width:4.2rem;font-size:.8rem}
.get{color:#2a7d4f}.post{color:#2563c9}.delete{color:#b3352f}.patch,.put{color:#9a6a00}
table{border-collapse:collapse;width:100%;font-size:.87rem}td{border-top:1px solid var(--line);padding:.25rem .5rem;vertical-align:top}
pre{background:var(--soft);padding:.7rem;border-radius:6px;overflow:auto;font-size:.82rem}h4{margin:.8rem 0 .2rem}`;
