/** The rules of a security context, to read: what is never called, what is opened within which bounds. */
import { Ban, UserRoundCheck } from "lucide-react";
import { classes } from "../../kit/controls/classes.ts";
import { Empty, Panel } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { approvalWords, type Capability, type Context, constraintsOf } from "./words.ts";

export function Rules({ context }: { readonly context: Context }) {
  const { capabilities, deny_list: denied, usable_by: usable } = context;
  return (
    <div className="grid min-w-0 items-start gap-4 xl:grid-cols-[2fr_1fr]">
      <Panel
        flush
        title="What it opens"
        beside={<span className="text-ink-soft text-xs">the first rule that fits a call decides it</span>}
      >
        {capabilities.length === 0 ? (
          <Empty title="It opens nothing">Every call under this context is refused.</Empty>
        ) : (
          <ol className="m-0 list-none divide-y divide-line p-0">
            {capabilities.map((capability, index) => (
              // Rules are known by their places.
              <li key={String(index)} className="px-4 py-3">
                <Rule capability={capability} index={index} />
              </li>
            ))}
          </ol>
        )}
      </Panel>
      <div className="flex min-w-0 flex-col gap-4">
        <Panel title="Never">
          {denied.length === 0 ? (
            <p className="m-0 text-ink-soft">No tool is denied by name.</p>
          ) : (
            <>
              <p className="m-0 mb-2 text-ink-soft text-xs">Stronger than every rule.</p>
              <ul className="m-0 flex list-none flex-wrap gap-1.5 p-0">
                {denied.map((pattern) => (
                  <li key={pattern}>
                    <Denied pattern={pattern} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </Panel>
        <Panel title="May be named by">
          {usable === null ? (
            <p className="m-0 text-ink-soft">Every identity of the tenant.</p>
          ) : usable.length === 0 ? (
            <p className="m-0 text-ink-soft">No identity: it holds only where it is used without being named.</p>
          ) : (
            <span className="flex flex-wrap gap-1">
              {usable.map((person) => (
                <Badge key={person}>{inert(person)}</Badge>
              ))}
            </span>
          )}
        </Panel>
      </div>
    </div>
  );
}

export function Denied({ pattern }: { readonly pattern: string }) {
  return (
    <span className="inline-flex items-center gap-1 rounded bg-bad-soft px-1.5 py-0.5 font-mono text-bad text-xs">
      <Ban aria-hidden className="size-3" />
      {inert(pattern)}
    </span>
  );
}

/** @param constraint the one of it that is pointed out, as verdicts name it */
export function Rule({
  capability,
  index,
  constraint = null,
}: {
  readonly capability: Capability;
  readonly index: number;
  readonly constraint?: string | null;
}) {
  const constraints = constraintsOf(capability);
  const approval = capability.approval ?? null;
  const pointed = constraint === null ? null : (shownAs[constraint] ?? null);
  return (
    <div className="flex min-w-0 gap-3">
      <span
        title={`rule ${index + 1}`}
        className="flex size-5 shrink-0 items-center justify-center rounded-full bg-hover font-medium text-2xs text-ink-soft"
      >
        {index + 1}
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <code className="break-all font-semibold text-sm">{inert(capability.tool_pattern)}</code>
        {constraints.length === 0 && approval === null && (
          <span className="text-ink-soft text-xs">every call, within the usual bounds</span>
        )}
        {constraints.length > 0 && (
          <dl className="m-0 grid grid-cols-1 gap-x-3 gap-y-1 sm:grid-cols-[7rem_1fr]">
            {constraints.map(([name, told]) => (
              <div key={name} className="contents">
                <dt className={classes("text-xs", name === pointed ? "font-medium text-bad" : "text-ink-soft")}>
                  {name}
                </dt>
                <dd
                  className={classes(
                    "m-0 min-w-0 break-words font-mono text-xs",
                    name === pointed && "rounded bg-bad-soft px-1 text-bad",
                  )}
                >
                  {inert(told)}
                </dd>
              </div>
            ))}
          </dl>
        )}
        {approval !== null && (
          <p className="m-0 flex items-start gap-1.5 text-violet text-xs">
            <UserRoundCheck aria-hidden className="mt-px size-3.5 shrink-0" />
            <span className="min-w-0 break-words">
              A person is asked about {inert(approvalWords(approval).join(", "))}.
            </span>
          </p>
        )}
      </div>
    </div>
  );
}

/** Constraints of verdicts, by the words that rules show them under. */
const shownAs: Readonly<Record<string, string>> = {
  path_allowlist: "Paths",
  command_allowlist: "Commands",
  subcommand_allowlist: "Commands",
  shell_syntax: "Commands",
  domain_allowlist: "Domains",
  rate_limit: "Rate",
  max_concurrent: "At once",
};
