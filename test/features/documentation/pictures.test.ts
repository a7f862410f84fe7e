/** Pictures of the concepts: from text to SVG that runs nothing, light and dark. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDiagram } from "../../../docs/generate/pictures/diagram.ts";
import { drawn, pictures } from "../../../docs/generate/pictures/draw.ts";

const docs = join(import.meta.dir, "../../../docs");

test("a text becomes boxes, groups and arrows", () => {
  const diagram = parseDiagram(
    "title A & B\ndirection right\n# no line\ngroup g Both\n  part a One | two\nperson b Ann\na -> b asks\nb --> a\n",
  );
  expect(diagram).toEqual({
    title: "A & B",
    direction: "right",
    boxes: [
      { id: "a", kind: "part", lines: ["One", "two"], group: "g" },
      { id: "b", kind: "person", lines: ["Ann"], group: null },
    ],
    groups: new Map([["g", "Both"]]),
    arrows: [
      { from: "a", to: "b", label: "asks", isDashed: false },
      { from: "b", to: "a", label: "", isDashed: true },
    ],
  });
  const picture = drawn(diagram);
  expect(picture).toContain('aria-label="A &amp; B"');
  expect(picture.match(/<rect class="b /g)?.length).toBe(3);
  expect(picture).toContain("prefers-color-scheme:dark");
  expect(picture).not.toMatch(/<script|href=|on\w+=|NaN|undefined/);
});

test.each(["bx a One", "part a One\na -> b"])("%p is refused", (text) => {
  expect(() => parseDiagram(text)).toThrow();
});

test("each picture is shown on a page, with a text for who cannot see it", () => {
  const pages = readdirSync(join(docs, "concepts")).map((name) => readFileSync(join(docs, "concepts", name), "utf8"));
  const shown = pages.flatMap((page) => [...page.matchAll(/!\[([^\]]{40,})\]\(\.\.\/(pictures\/[\w-]+\.svg)\)/g)]);
  expect(shown.map(([, , path]) => path).sort()).toEqual(Object.keys(pictures()).sort());
});
