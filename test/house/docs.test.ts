/** The documents: links lead somewhere, what is generated or pinned to the code is not stale. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { problems } from "../../actors/kernel/problem.ts";
import { generatedPages } from "../../docs/generate.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pages = ["README.md", ...new Glob("{docs,src,actors,test}/**/*.md").scanSync(root)].sort();

/** How GitHub names the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

function anchorsOf(page: string): Set<string> {
  return new Set([...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)));
}

function linksOf(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?```/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

test.each(pages)("links of %s resolve", (page) => {
  const broken = linksOf(read(page)).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

/** Paths in backticks: from the project's root, or files by their place beside the page or source that names them. */
function pathsIn(text: string): string[] {
  const named = /`((?:actors|src|test|docs)\/[\w./-]*|[\w./-]+\.(?:ts|lua|sql))`/g;
  return [...text.matchAll(named)].map(([, path = ""]) => path).filter((path) => !path.includes("NNNN"));
}

function isFound(path: string, from: string): boolean {
  return existsSync(join(root, path)) || existsSync(join(root, dirname(from), path));
}

/** Names that are the same in every folder of their kind; a page may name them without a folder. */
const usualNames = /^(?:feature|exported|service|routes|schema|records|projection|port|settings|fixture|harness)\.ts$/;

test.each(pages)("files and folders that %s names exist", (page) => {
  const named = pathsIn(read(page)).filter((path) => page.startsWith("src/") || !usualNames.test(path));
  expect(named.filter((path) => !isFound(path, page))).toEqual([]);
});

test("files and folders that comments of the code name exist", () => {
  const missing = [...new Glob("{actors,src}/**/*.{ts,lua,sql}").scanSync(root)].flatMap((source) => {
    const comments = read(source)
      .split("\n")
      .filter((line) => /^\s*(?:\/?\*|\/\/|--)|\s(?:\/\/|\/\*\*) /.test(line));
    return pathsIn(comments.join("\n"))
      .filter((path) => !isFound(path, source))
      .map((path) => `${source}: ${path}`);
  });
  expect(missing).toEqual([]);
});

test("no table of the reference has a row twice", () => {
  const twice = pages
    .filter((page) => page.startsWith("docs/reference/"))
    .flatMap((page) =>
      (read(page).match(/(?:^\|.*\n)+/gm) ?? []).flatMap((table) => {
        const [, , ...rows] = table.trim().split("\n");
        return rows.filter((row, at) => rows.indexOf(row) < at).map((row) => `${page}: ${row.slice(0, 60)}`);
      }),
    );
  expect(twice).toEqual([]);
});

test.each(["reference", "decisions"])("every page of docs/%s is in its list", (folder) => {
  const listed = new Set(linksOf(read(`docs/${folder}/README.md`)));
  const all = [...new Glob("*.md").scanSync(join(root, "docs", folder))].filter((name) => name !== "README.md");
  expect(all.filter((name) => !listed.has(name))).toEqual([]);
});

test("pages that code and tests name exist", () => {
  const sources = [...new Glob("{actors,src,test}/**/*.ts").scanSync(root)];
  const named = sources.flatMap((path) => read(path).match(/docs\/(?:guide|reference|decisions)\/[\w-]+\.md/g) ?? []);
  expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("log lines that pages name are reported by the code", () => {
  const code = [...new Glob("src/**/*.ts").scanSync(root)].map(read).join("\n");
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/log lines? `(\w+)`|logs `(\w+)`/g)].map(([, one, other]) => one ?? other ?? ""),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !code.includes(`"${name}"`))).toEqual([]);
});

test.each(Object.entries(generatedPages))("%s is what `npm run docs` writes", (path, text) => {
  expect(read(join("docs", path))).toBe(text);
});

test("the page of errors names every code with its status", () => {
  const rows = [...read("docs/reference/errors.md").matchAll(/^\| `(\w+)` +\| (\d+) +\| \S/gm)];
  const named = Object.fromEntries(rows.map(([, code = "", status]) => [code, Number(status)]));
  expect(named).toEqual({ ...problems });
});

describe("the page of acceptance", () => {
  const areas = read("docs/reference/acceptance.md").split(/^## /m).slice(1);
  const rows = areas.map((area) =>
    [...area.matchAll(/^\| +(\d+) \| \S.* \| `([^`]+)` +\| `([^`]+)` +\|$/gm)].map(
      ([, number, file = "", title = ""]) => ({ number: Number(number), file, title }),
    ),
  );

  test("has the points of each area in order, without a gap", () => {
    // So many points has each area.
    const points = [51, 51, 32, 40, 14];
    expect(rows.length).toBe(points.length);
    for (const [index, area] of rows.entries())
      expect([...new Set(area.map(({ number }) => number))]).toEqual(
        Array.from({ length: points[index] ?? 0 }, (_, point) => point + 1),
      );
    // Every row of a table was read, its two first ones are the heading.
    expect(rows.map(({ length }) => length)).toEqual(areas.map((area) => [...area.matchAll(/^\|/gm)].length - 2));
  });

  test("names tests that are there under these titles", () => {
    const missing = rows
      .flat()
      .filter(({ file, title }) => !['"', "`"].some((quote) => read(file).includes(`${quote}${title}${quote}`)))
      .map(({ number, file, title }) => `${number}: ${file}: ${title}`);
    expect(missing).toEqual([]);
  });
});

/** No source cites a document outside the project; public standards may be cited. */
const citations = [
  /\bcontracts?\b(?!-test-secret)/i,
  /§/,
  /\bsection \d/i,
  /\b(?:agents-executions|workflows-approvals|auth-tenancy|stimuli-webhooks|seal-tools-dispatch)\b/,
  /\b(?:acceptance|platform|seal|stimuli|edge-fleet) \d/i,
];
const standards = /\b(?:RFC \d+|semver\.org)\b/;

test("no document outside the project is cited", () => {
  const paths = [...new Glob("{actors,src,test,docs}/**/*.{ts,md,sql,lua,yaml,sh}").scanSync(root), "README.md"];
  const cited = paths
    .filter((path) => path !== "test/house/docs.test.ts")
    .flatMap((path) =>
      read(path)
        .split("\n")
        .filter((line) => !standards.test(line) && citations.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line.trim().slice(0, 120)}`),
    );
  expect(cited).toEqual([]);
});

test("commands need no bun on the path: Node and npm are enough", async () => {
  const { scripts } = (await Bun.file(join(import.meta.dir, "../../package.json")).json()) as {
    scripts: Record<string, string>;
  };
  // `deploy` is what an image runs, which has called Bun itself by then.
  const bare = Object.entries(scripts).filter(
    ([name, line]) => name !== "deploy" && /(?:^|[;&|] *|exec )bunx? /.test(line),
  );
  expect(bare).toEqual([]);
  const blocks = await Promise.all(
    ["README.md", "docs/guide/run.md", "docs/guide/agent.md", "docs/guide/operate.md"].map(async (path) => {
      const text = await Bun.file(join(import.meta.dir, "../..", path)).text();
      return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = ""]) => block.split("\n"));
    }),
  );
  expect(blocks.flat().filter((line) => /^\s*(?:\w+=\S+ )*bunx? /.test(line))).toEqual([]);
});
