/** A picture as text: boxes, groups of boxes and arrows, one a line. */

export type Kind = "part" | "person" | "store" | "outside" | "step";

export interface Box {
  readonly id: string;
  readonly kind: Kind;
  readonly lines: readonly string[];
  readonly group: string | null;
}

export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** Drawn with a broken line. */
  readonly isDashed: boolean;
}

export interface Diagram {
  /** What a reader who cannot see it is told. */
  readonly title: string;
  readonly direction: "down" | "right";
  readonly boxes: readonly Box[];
  /** Their titles by their ids. */
  readonly groups: ReadonlyMap<string, string>;
  readonly arrows: readonly Arrow[];
}

/**
 * Reads the text of a picture. Lines: `title …`, `direction down|right`, `group ID Title`, `KIND ID Title | second line`
 * (indented below its group), `ID -> ID label`, `ID --> ID label` for a broken line, `# comment`.
 *
 * @throws where a line is none of these, or an arrow leads to no box
 */
export function parseDiagram(text: string): Diagram {
  let title = "";
  let direction: Diagram["direction"] = "down";
  let group: string | null = null;
  const boxes: Box[] = [];
  const groups = new Map<string, string>();
  const arrows: Arrow[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    if (!/^\s/.test(raw)) group = null;
    const arrow = arrowIn(line);
    const [, word = "", id = "", rest = ""] = /^(\w+) (\S+) ?(.*)$/.exec(line) ?? [];
    if (arrow !== null) arrows.push(arrow);
    else if (word === "title") title = `${id} ${rest}`.trim();
    else if (word === "direction") direction = directionOf(id);
    else if (word === "group") {
      group = id;
      groups.set(id, rest);
    } else if (isKind(word)) boxes.push({ id, kind: word, lines: rest.split(" | "), group });
    else throw new Error(`A picture has the line "${line}"`);
  }
  checkArrows(boxes, arrows);
  return { title, direction, boxes, groups, arrows };
}

const directionOf = (word: string): Diagram["direction"] => (word === "right" ? "right" : "down");

function checkArrows(boxes: readonly Box[], arrows: readonly Arrow[]): void {
  const known = new Set(boxes.map(({ id }) => id));
  for (const { from, to } of arrows)
    if (!known.has(from) || !known.has(to)) throw new Error(`The arrow from ${from} to ${to} leads to no box`);
}

function arrowIn(line: string): Arrow | null {
  const [, from, dash, to, label = ""] = /^([\w-]+) (-?)-> ([\w-]+)(?: (.+))?$/.exec(line) ?? [];
  return from === undefined || to === undefined ? null : { from, to, label, isDashed: dash === "-" };
}

const kinds: ReadonlySet<string> = new Set<Kind>(["part", "person", "store", "outside", "step"]);
const isKind = (word: string): word is Kind => kinds.has(word);
