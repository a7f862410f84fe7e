/** What the service says of a call that was tried: allowed, asked about or refused, and by which rule. */

import { useQuery } from "@tanstack/react-query";
import { CheckCircle2, CircleX, UserRoundCheck } from "lucide-react";
import { classes } from "../../kit/controls/classes.ts";
import { TextLink } from "../../kit/controls/link.tsx";
import { Facts, Panel } from "../../kit/page.tsx";
import { inert } from "../../kit/values/text.tsx";
import { contextQuery } from "./query.ts";
import { Denied, Rule } from "./rules.tsx";
import { type Context, constraintText, contextLink, type Verdict } from "./words.ts";

const looks = {
  allowed: ["It may", "border-good/40 bg-good-soft", "text-good", CheckCircle2],
  asked: ["It may, once a person agrees", "border-violet/40 bg-violet-soft", "text-violet", UserRoundCheck],
  refused: ["It may not", "border-bad/40 bg-bad-soft", "text-bad", CircleX],
} as const;

interface VerdictProps {
  readonly verdict: Verdict;
  readonly context: Context;
  readonly tool: string;
}

export function VerdictShown({ verdict, context, tool }: VerdictProps) {
  const { allowed, approval, message, code, error_code: number, details, remaining } = verdict;
  const [words, box, ink, Icon] = looks[allowed ? (approval ? "asked" : "allowed") : "refused"];
  const { attempted, allowed: list, failures } = details;
  return (
    <>
      <div role="status" className={classes("rounded-panel border p-4", box)}>
        <p className={classes("m-0 flex items-center gap-2 font-semibold text-base", ink)}>
          <Icon aria-hidden className="size-5" />
          {words}
        </p>
        <p className="mt-1 mb-0">{inert(message)}</p>
        {code !== null && (
          <p className="mt-1 mb-0 text-xs">
            {number} <code>{code}</code>
          </p>
        )}
        {remaining !== null && (
          <p className="mt-1 mb-0 text-ink-soft text-xs">
            The rate leaves {remaining.toLocaleString("en")} {remaining === 1 ? "call" : "calls"} now.
          </p>
        )}
      </div>
      <Panel title="The rule that decides">
        <div className="flex flex-col gap-3">
          <Deciding verdict={verdict} context={context} tool={tool} />
          {!allowed && (attempted !== undefined || list !== undefined) && (
            <Facts of={[...fact("Asked for", attempted), ...fact("Allowed", list)]} />
          )}
          {Array.isArray(failures) && <Failures of={failures as readonly Failure[]} />}
        </div>
      </Panel>
    </>
  );
}

const fact = (name: string, value: unknown): readonly (readonly [string, React.ReactNode])[] =>
  value === undefined ? [] : [[name, <code key={name}>{inert(textOf(value))}</code>]];

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") || "none" : JSON.stringify(value);

function Deciding({ verdict, context, tool }: VerdictProps) {
  const { decided_by: by, capability_index: index, constraint, allowed } = verdict;
  const ceilingName = by === null || by === context.name ? null : by;
  const ceiling = useQuery({ ...contextQuery(ceilingName ?? ""), enabled: ceilingName !== null });
  const deciding = ceilingName === null ? context : ceiling.data;
  const rule = index === null ? undefined : deciding?.capabilities[index];
  return (
    <>
      {ceilingName !== null && (
        <p className="m-0">
          A ceiling of the execution decides: <TextLink to={contextLink(ceilingName)}>{inert(ceilingName)}</TextLink>.
        </p>
      )}
      {rule !== undefined && index !== null ? (
        <Rule capability={rule} index={index} constraint={allowed ? null : constraint} />
      ) : (
        <NoRule verdict={verdict} tool={tool} />
      )}
    </>
  );
}

/** Where no single rule decides. */
function NoRule({ verdict: { constraint, details }, tool }: Omit<VerdictProps, "context">) {
  if (typeof details.pattern === "string")
    return (
      <p className="m-0 flex flex-wrap items-center gap-2">
        <Denied pattern={details.pattern} /> of the deny list covers it. No rule can open what is denied.
      </p>
    );
  switch (constraint) {
    case "tool_pattern":
      return (
        <p className="m-0 text-ink-soft">
          No rule has a pattern that covers <code>{inert(tool)}</code>, and what no rule opens is refused.
        </p>
      );
    case "context_deleted":
      return <p className="m-0 text-ink-soft">The context was deleted, and refuses every call.</p>;
    default:
      return (
        <p className="m-0 text-ink-soft">
          {constraint === null ? "Several rules are for it, and none fits." : `${constraintText(constraint)}.`}
        </p>
      );
  }
}

interface Failure {
  readonly code?: unknown;
  readonly capability_index?: unknown;
  readonly constraint?: unknown;
}

/** Several rules are for the tool, and each fails in its own way. */
function Failures({ of }: { readonly of: readonly Failure[] }) {
  return (
    <ul className="m-0 list-disc pl-5 text-xs">
      {of.map(({ code, capability_index: index, constraint }) => (
        <li key={`${String(index)} ${String(code)}`}>
          rule {typeof index === "number" ? index + 1 : "?"}: {constraintText(String(constraint ?? ""))}{" "}
          <code>{String(code)}</code>
        </li>
      ))}
    </ul>
  );
}
