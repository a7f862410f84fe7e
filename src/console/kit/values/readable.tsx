/** A text that people are to decide by: JSON in it as a tree, changes as a diff, the rest as the text that it is. */
import { useMemo } from "react";
import { classes } from "../controls/classes.ts";
import { Value } from "./json.tsx";
import { inert, Lines } from "./text.tsx";

type Part =
  | { readonly kind: "text" | "diff"; readonly text: string }
  | { readonly kind: "json"; readonly value: object };

/** Longer texts are shown as lines: to look for parts in them is slow, characters. */
const longest = 200_000;

export function Readable({ text }: { readonly text: string }) {
  const parts = useMemo(() => partsOf(text), [text]);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {parts.map((part, place) => (
        // The parts of one text stand where they stand.
        <PartView key={`${part.kind} ${String(place)}`} part={part} />
      ))}
    </div>
  );
}

function PartView({ part }: { readonly part: Part }) {
  if (part.kind === "json") return <Value value={part.value} open={3} />;
  if (part.kind === "diff") return <Changes text={part.text} />;
  if (part.text.length > 4_000) return <Lines text={part.text} />;
  return (
    <p dir="auto" className="m-0 whitespace-pre-wrap break-words leading-6">
      {inert(part.text)}
    </p>
  );
}

/** A unified diff, a colour for what comes and goes. */
function Changes({ text }: { readonly text: string }) {
  const lines = text.split("\n");
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      className="m-0 max-h-[30rem] overflow-auto rounded-control border border-line bg-sunken py-2 text-xs leading-5"
    >
      {lines.map((line, place) => (
        <span
          key={`${String(place)} ${line}`}
          className={classes(
            "block min-w-fit whitespace-pre-wrap break-words px-3",
            /^(\+\+\+|---|diff |index )/.test(line)
              ? "font-medium text-ink-faint"
              : line.startsWith("@@")
                ? "text-info"
                : line.startsWith("+")
                  ? "bg-good-soft text-good"
                  : line.startsWith("-")
                    ? "bg-bad-soft text-bad"
                    : "text-ink-soft",
          )}
        >
          {inert(line) || " "}
        </span>
      ))}
    </pre>
  );
}

function partsOf(text: string): readonly Part[] {
  if (text.length > longest) return [{ kind: "text", text }];
  const whole = jsonOf(text);
  if (whole !== null) return [{ kind: "json", value: whole }];
  if (isDiff(text)) return splitDiff(text);
  const parts: Part[] = [];
  let said: string[] = [];
  const flush = () => {
    const joined = said.join("\n\n").trim();
    if (joined !== "") parts.push({ kind: "text", text: joined });
    said = [];
  };
  for (const block of blocksOf(text)) {
    const fenced = /^```(\w*)\n([\s\S]*?)\n?```$/.exec(block.trim());
    const body = fenced?.[2] ?? block;
    const value = jsonOf(body);
    if (value !== null) {
      flush();
      parts.push({ kind: "json", value });
    } else if (fenced?.[1] === "diff" || isDiff(body)) {
      flush();
      parts.push(...splitDiff(body));
    } else said.push(block);
  }
  flush();
  return parts;
}

/** Paragraphs; a fenced block is one, with its empty lines. */
function blocksOf(text: string): readonly string[] {
  return text
    .split(/(^```\w*\n[\s\S]*?\n?^```[ \t]*$)/m)
    .flatMap((piece) => (piece.startsWith("```") ? [piece] : joinedDiff(piece.split(/\n{2,}/))));
}

/** A diff may have empty lines in it. */
function joinedDiff(paragraphs: readonly string[]): string[] {
  const joined: string[] = [];
  for (const paragraph of paragraphs) {
    const last = joined.at(-1);
    if (last !== undefined && isDiff(last) && /^[+\-@ ]/.test(paragraph))
      joined[joined.length - 1] = `${last}\n\n${paragraph}`;
    else joined.push(paragraph);
  }
  return joined;
}

const isDiff = (text: string): boolean =>
  /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text) || /^--- .+\n\+\+\+ .+$/m.test(text);

/** What is said before a diff stands before it. */
function splitDiff(text: string): Part[] {
  const at = text.search(/^(diff --git |--- .+\n\+\+\+ |@@ -)/m);
  const before = at > 0 ? text.slice(0, at).trim() : "";
  const diff: Part = { kind: "diff", text: (at > 0 ? text.slice(at) : text).replace(/\n$/, "") };
  return before === "" ? [diff] : [{ kind: "text", text: before }, diff];
}

function jsonOf(text: string): object | null {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return null;
  try {
    const value: unknown = JSON.parse(trimmed);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}
