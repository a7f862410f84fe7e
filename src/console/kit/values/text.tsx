/** Text of agents, payloads and files: shown, never obeyed. */
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import stripAnsi from "strip-ansi";
import { classes } from "../controls/classes.ts";
import { Tip } from "../controls/tip.tsx";

/** What is shown of a long text at first, characters. */
const firstShown = 20_000;
const moreShown = 200_000;

/** Characters that are not seen, turn the direction of text or hide in it; line ends and tabs are none of them. */
const hidden = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const plain = new Set(["\n", "\r", "\t"]);

/** Text without terminal sequences, with its invisible characters made visible. */
export function inert(text: string): string {
  return stripAnsi(text).replace(hidden, (one) => (plain.has(one) ? one : `[U+${hexOf(one)}]`));
}

const hexOf = (one: string): string => (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/** Lines as they are, in a box that scrolls; a long one is shown in parts. */
export function Lines({
  text,
  className,
  wrap = true,
}: {
  readonly text: string;
  readonly className?: string;
  readonly wrap?: boolean;
}) {
  const [shown, show] = useState(firstShown);
  const rest = text.length - shown;
  return (
    <div className={classes("relative min-w-0", className)}>
      <pre
        dir="auto"
        tabIndex={0}
        className={classes(
          "m-0 max-h-[30rem] overflow-auto rounded-control bg-sunken p-3 text-xs leading-5",
          wrap && "whitespace-pre-wrap break-words",
        )}
      >
        {inert(text.slice(0, shown))}
      </pre>
      {rest > 0 && (
        <button
          type="button"
          className="mt-1 text-accent text-xs hover:underline"
          onClick={() => show(shown + moreShown)}
        >
          Show more ({rest.toLocaleString("en")} characters follow)
        </button>
      )}
    </div>
  );
}

/** A name or an id that can be copied. @param short shows its first and last characters only */
export function Copyable({
  value,
  short = false,
  mono = true,
}: {
  readonly value: string;
  readonly short?: boolean;
  readonly mono?: boolean;
}) {
  const text = short && value.length > 13 ? `${value.slice(0, 8)}…${value.slice(-4)}` : value;
  return (
    <span className="group/copy inline-flex min-w-0 max-w-full items-center gap-0.5">
      <bdi title={value} className={classes("truncate", mono && "font-mono text-xs")}>
        {inert(text)}
      </bdi>
      <CopyButton
        value={value}
        className="opacity-0 focus-visible:opacity-100 group-hover/copy:opacity-100 [.about_&]:opacity-100 [@media(hover:none)]:opacity-100"
      />
    </span>
  );
}

export function CopyButton({
  value,
  label = "Copy",
  className,
}: {
  readonly value: string;
  readonly label?: string;
  readonly className?: string;
}) {
  const [copied, setCopied] = useState(false);
  return (
    <Tip text={copied ? "Copied" : label}>
      <button
        type="button"
        aria-label={label}
        className={classes(
          "shrink-0 rounded p-1 text-ink-faint transition-opacity hover:bg-hover hover:text-ink",
          className,
        )}
        onClick={(event) => {
          event.preventDefault();
          event.stopPropagation();
          navigator.clipboard.writeText(value).then(
            () => {
              setCopied(true);
              setTimeout(() => setCopied(false), 1_500);
            },
            () => setCopied(false),
          );
        }}
      >
        {copied ? <Check aria-hidden className="size-3.5 text-good" /> : <Copy aria-hidden className="size-3.5" />}
      </button>
    </Tip>
  );
}

/** A command to paste, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <span className="flex min-w-0 max-w-full items-center gap-1 rounded-control border border-line bg-sunken py-1 pr-1 pl-2.5 text-left">
      <code tabIndex={0} className="min-w-0 flex-1 overflow-x-auto whitespace-pre text-xs">
        {text}
      </code>
      <CopyButton value={text} label="Copy the command" />
    </span>
  );
}
