/** Pictures of the concepts: `docs/pictures/NAME.txt` becomes `NAME.svg`, light and dark. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Graph, layout } from "@dagrejs/dagre";
import { type Box, type Diagram, parseDiagram } from "./diagram.ts";

const folder = join(import.meta.dir, "../../pictures");

/** Path below `docs/` → the picture. */
export function pictures(): Readonly<Record<string, string>> {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".txt"))
    .toSorted();
  return Object.fromEntries(
    names.map((name) => [
      `pictures/${name.replace(/\.txt$/, ".svg")}`,
      drawn(parseDiagram(readFileSync(join(folder, name), "utf8"))),
    ]),
  );
}

/** Pixels. Characters are counted as this wide, a little more than they are. */
const sizes = { title: 8.7, small: 7.2, label: 6.9, line: 19, padding: 13 };

const style = `text{font-family:Inter,system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1a1f36;text-anchor:middle}
.t{font-size:15px;font-weight:600}.s{font-size:13px;fill:#4f5767}.l{font-size:12.5px;fill:#4f5767}.g{font-size:13px;font-weight:600;fill:#4f5767;text-anchor:start}
.b{stroke-width:1.2;fill:#fff;stroke:#c6cddb}.part{fill:#eef3ff;stroke:#9db7f5}.person{fill:#fff5e6;stroke:#eabf7d}.store{fill:#eaf7f0;stroke:#8fceb0}.outside{stroke-dasharray:4 3}
.group{fill:#f7f9fc;stroke:#dde3ec}.a{fill:none;stroke:#7a869f;stroke-width:1.4}.d{stroke-dasharray:5 4}.h{fill:#7a869f}.w{fill:#f6f7f9;opacity:.92}
@media (prefers-color-scheme:dark){text{fill:#eef1f8}.s,.l,.g{fill:#a9b3c9}.b{fill:#1b2130;stroke:#46506a}.part{fill:#1b2a4d;stroke:#4a6bb8}.person{fill:#3a2c16;stroke:#94713a}.store{fill:#15322a;stroke:#3f8a6a}.group{fill:#141925;stroke:#2c3447}.a{stroke:#8893ad}.h{fill:#8893ad}.w{fill:#14171d}}`;

/** @returns SVG that styles itself and runs nothing */
export function drawn(diagram: Diagram): string {
  const graph = new Graph({ compound: true, multigraph: true });
  const isDown = diagram.direction === "down";
  graph.setGraph({ rankdir: isDown ? "TB" : "LR", nodesep: 34, ranksep: 42, marginx: 12, marginy: 12 });
  for (const id of diagram.groups.keys()) graph.setNode(id, {});
  for (const box of diagram.boxes) {
    graph.setNode(box.id, sizeOf(box));
    if (box.group !== null) graph.setParent(box.id, box.group);
  }
  // In reverse, since the layout puts what comes first to the right.
  for (const [index, { from, to, label }] of [...diagram.arrows.entries()].reverse())
    graph.setEdge(
      from,
      to,
      label === "" ? {} : { width: label.length * sizes.label + 10, height: 20, labelpos: "c" },
      `${index}`,
    );
  layout(graph);
  const lines = diagram.arrows.flatMap(({ from, to }, index) => along(routed(graph.edge(from, to, `${index}`)).points));
  const groups = [...diagram.groups].map(([id, title]) => {
    const { x, y, width, height } = placed(graph.node(id));
    const [left, top] = [x - width / 2, y - height / 2];
    const words = title.length * sizes.small + 24;
    // On the other side where an arrow would go through it.
    const isCrossed = lines.some((point) => within(point, { left, top, width: words, height: 26 }));
    const start = isCrossed ? left + width - words + 12 : left + 12;
    return {
      frame: `<rect class="b group" x="${at(left)}" y="${at(top)}" width="${at(width)}" height="${at(height)}" rx="12"/>`,
      title: `<text class="g" x="${at(start)}" y="${at(top + 19)}">${text(title)}</text>`,
    };
  });
  const arrows = diagram.arrows.map(({ from, to, label, isDashed }, index) => {
    const { points, ...middle } = routed(graph.edge(from, to, `${index}`));
    const { x, y } = nearest(along(points), middle);
    const width = label.length * sizes.label + 8;
    const words =
      label === "" || x === undefined || y === undefined
        ? ""
        : `<rect class="w" x="${at(x - width / 2)}" y="${at(y - 9)}" width="${at(width)}" height="18" rx="4"/><text class="l" x="${at(x)}" y="${at(y + 4)}">${text(label)}</text>`;
    return `<path class="a${isDashed ? " d" : ""}" d="${curve(points)}" marker-end="url(#h)"/>${words}`;
  });
  const boxes = diagram.boxes.map((box) => boxOf(box, placed(graph.node(box.id))));
  const { width = 0, height = 0 } = graph.graph() as { readonly width?: number; readonly height?: number };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${at(width)} ${at(height)}" width="${at(width)}" height="${at(height)}" role="img" aria-label="${text(diagram.title)}">
<title>${text(diagram.title)}</title>
<style>${style}</style>
<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="h" d="M0 .5 8 4 0 7.5z"/></marker></defs>
${[...groups.map(({ frame }) => frame), ...arrows, ...boxes, ...groups.map(({ title }) => title)].join("\n")}
</svg>
`;
}

function boxOf({ kind, lines }: Box, { x, y, width, height }: Place): string {
  const first = y - ((lines.length - 1) * sizes.line) / 2 + 5;
  const words = lines.map(
    (line, index) =>
      `<text class="${index === 0 ? "t" : "s"}" x="${at(x)}" y="${at(first + index * sizes.line)}">${text(line)}</text>`,
  );
  const round = kind === "person" ? height / 2 : 8;
  return `<rect class="b ${kind}" x="${at(x - width / 2)}" y="${at(y - height / 2)}" width="${at(width)}" height="${at(height)}" rx="${at(round)}"/>${words.join("")}`;
}

function sizeOf({ lines, kind }: Box): { readonly width: number; readonly height: number } {
  const widths = lines.map((line, index) => line.length * (index === 0 ? sizes.title : sizes.small));
  const more = kind === "person" ? 2 * sizes.padding + 12 : 2 * sizes.padding;
  return { width: Math.max(...widths, 60) + more, height: lines.length * sizes.line + 20 };
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
interface Point {
  readonly x: number;
  readonly y: number;
}
interface Route {
  readonly points: readonly Point[];
  readonly x?: number;
  readonly y?: number;
}

// The library leaves open what a node and an edge hold; after its layout it is this.
const placed = (node: unknown): Place => node as Place;
const routed = (edge: unknown): Route => edge as Route;

/** Places on the line that `curve` draws, close to each other. */
function along(points: Route["points"]): readonly Point[] {
  const [first, ...others] = points;
  const last = others.pop();
  if (first === undefined || last === undefined) return [];
  let from = first;
  const found: Point[] = [];
  const ends = others.map((bend, index) => [bend, half(bend, others[index + 1] ?? last)] as const);
  for (const [bend, to] of [...ends, [half(ends.at(-1)?.[1] ?? first, last), last] as const]) {
    for (let step = 0; step <= 20; step += 1) {
      const t = step / 20;
      const mix = (a: number, b: number, c: number) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c;
      found.push({ x: mix(from.x, bend.x, to.x), y: mix(from.y, bend.y, to.y) });
    }
    from = to;
  }
  return found;
}

const half = (one: Point, other: Point): Point => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });

/** The layout's place for words is a corner that the round line leaves out: the nearest place on the line is theirs. */
function nearest(points: readonly Point[], { x, y }: Partial<Point>): Partial<Point> {
  if (x === undefined || y === undefined) return {};
  const far = (point: Point) => Math.hypot(point.x - x, point.y - y);
  return points.reduce<Point>((best, point) => (far(point) < far(best) ? point : best), points[0] ?? { x, y });
}

const within = (
  { x, y }: Point,
  {
    left,
    top,
    width,
    height,
  }: { readonly left: number; readonly top: number; readonly width: number; readonly height: number },
): boolean => x > left && x < left + width && y > top && y < top + height;

/** Through the points, with round corners. */
function curve(points: Route["points"]): string {
  const [first, ...others] = points.map(({ x, y }) => ({ x: at(x), y: at(y) }));
  const last = others.pop();
  if (first === undefined || last === undefined) return "";
  const bends = others.map(({ x, y }, index) => {
    const next = others[index + 1] ?? last;
    return `Q${x} ${y} ${at((x + next.x) / 2)} ${at((y + next.y) / 2)}`;
  });
  return `M${first.x} ${first.y}${bends.join("")}L${last.x} ${last.y}`;
}

/** Rounded, so that the text of a picture is the same everywhere. */
const at = (value: number): number => Math.round(value * 10) / 10;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const text = (value: string): string => value.replace(/[&<>"]/g, (character) => entities[character] ?? "");
