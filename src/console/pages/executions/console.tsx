/** What an execution and its commands write, as they write it. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { classes } from "../../kit/controls/classes.ts";
import { Checkbox } from "../../kit/controls/field.tsx";
import { Empty } from "../../kit/page.tsx";
import { CopyButton, inert } from "../../kit/values/text.tsx";
import type { Story } from "./story.ts";

interface Line {
  readonly key: string;
  readonly text: string;
  readonly isError: boolean;
  readonly isCut: boolean;
}

/** A line is shown in pieces of at most so many characters: one of megabytes cannot be laid out. */
const longestLine = 2_000;

function linesOf(story: Story): Line[] {
  const lines: Line[] = [];
  let open: { text: string; isError: boolean } | null = null;
  const put = (text: string, isError: boolean, isCut = false) => {
    for (let from = 0; from === 0 || from < text.length; from += longestLine)
      lines.push({ key: String(lines.length), text: text.slice(from, from + longestLine), isError, isCut });
  };
  for (const { content, stream, isCut } of story.console) {
    const isError = stream === "stderr";
    if (open !== null && open.isError !== isError) {
      put(open.text, open.isError);
      open = null;
    }
    const parts: string[] = ((open?.text ?? "") + content).split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) put(part, isError);
    open = rest === "" ? null : { text: rest, isError };
    if (isCut) put("… more was written than is kept …", false, true);
  }
  if (open !== null) put(open.text, open.isError);
  return lines;
}

export function ConsoleOutput({ story, version }: { readonly story: Story; readonly version: number }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the story changes in place; its version tells
  const lines = useMemo(() => linesOf(story), [story, version]);
  const [isFollowing, follow] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 20,
    overscan: 30,
  });
  const { length } = lines;
  useEffect(() => {
    if (isFollowing && length > 0) virtual.scrollToIndex(length - 1, { align: "end" });
  }, [isFollowing, length, virtual]);
  if (length === 0)
    return (
      <Empty title={story.isOver ? "Nothing was written" : "Nothing was written yet"}>
        Standard output and standard error of the agent and its commands appear here while they run.
      </Empty>
    );
  return (
    <div>
      <div className="flex items-center gap-4 border-line border-b px-4 py-2 text-xs">
        <span className="text-ink-soft">
          {length.toLocaleString("en")} {length === 1 ? "line" : "lines"}
        </span>
        <span className="ml-auto flex items-center gap-3">
          {!story.isOver && <Checkbox label="Follow" checked={isFollowing} onChange={follow} />}
          <CopyButton value={story.console.map(({ content }) => content).join("")} label="Copy everything" />
        </span>
      </div>
      <div
        ref={box}
        role="log"
        aria-label="Console output"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        className="max-h-[min(36rem,65dvh)] overflow-auto bg-sunken py-2"
        onWheel={({ deltaY }) => deltaY < 0 && follow(false)}
      >
        <div className="relative font-mono text-xs leading-5" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const line = lines[index];
            if (line === undefined) return null;
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                dir="auto"
                className={classes(
                  "absolute inset-x-0 top-0 min-h-5 whitespace-pre-wrap break-all px-4",
                  line.isError && "text-bad",
                  line.isCut && "text-warn",
                )}
                style={{ transform: `translateY(${start}px)` }}
              >
                {inert(line.text)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
