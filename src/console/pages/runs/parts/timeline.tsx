/** Each entry into a state, in order: what it was, what came of it, which rule led on. */
import { ChevronRight } from "lucide-react";
import type { Schemas } from "../../../../programs/client/client.ts";
import { useCan } from "../../../app/session/session.ts";
import { Who } from "../../../app/who.tsx";
import { classes } from "../../../kit/controls/classes.ts";
import { pictureOf } from "../../../kit/flow/state-look.ts";
import { Value } from "../../../kit/values/json.tsx";
import { Badge, Status, wordsOf } from "../../../kit/values/status.tsx";
import { inert, Lines } from "../../../kit/values/text.tsx";
import { Ago, Duration } from "../../../kit/values/time.tsx";
import { type Definition, objectOf, type StateDefinition, textOf } from "../../workflows/model/definition.ts";
import { wordsOfCondition } from "../../workflows/model/rules.ts";
import { type Entry, fleetRunOf, isAnswered } from "../model/entries.ts";
import { ExecutionRow, FleetRow, SubRun, useExecutionsOf, useFleetRunsOf } from "./children.tsx";
import { Items, Progress } from "./items.tsx";

interface TimelineProps {
  readonly runId: string;
  readonly entries: readonly Entry[];
  readonly definition: Definition | null;
  readonly waiting: ReadonlySet<string>;
  /** The state that is chosen in the graph: its entries are open. */
  readonly chosen: string | null;
  readonly onChoose: (state: string | null) => void;
}

export function Timeline({ runId, entries, definition, waiting, chosen, onChoose }: TimelineProps) {
  const executions = useExecutionsOf(runId);
  return (
    <ol aria-label="States entered" className="m-0 list-none p-0">
      {entries.map((entry) => {
        const written = definition?.states.find(({ name }) => name === entry.state) ?? null;
        const isOpen = chosen === entry.state;
        const execution = textOf(objectOf(entry.output)?.execution_id);
        return (
          <li key={entry.key} className="border-line border-b last:border-b-0">
            <Row
              entry={entry}
              kind={written?.kind ?? ""}
              isWaiting={entry.exitedAt === null && waiting.has(entry.state)}
              isOpen={isOpen}
              onOpen={() => onChoose(isOpen ? null : entry.state)}
            />
            {isOpen && (
              <Body
                runId={runId}
                entry={entry}
                written={written}
                executions={(executions.data?.items ?? []).filter(({ id }) => id === execution)}
              />
            )}
          </li>
        );
      })}
    </ol>
  );
}

function Row({
  entry,
  kind,
  isWaiting,
  isOpen,
  onOpen,
}: {
  readonly entry: Entry;
  readonly kind: string;
  readonly isWaiting: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}) {
  const Picture = pictureOf(kind);
  const calm = isAnswered(entry);
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onOpen}
      className="flex w-full min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1 px-4 py-2 text-left hover:bg-hover"
    >
      <ChevronRight aria-hidden className={classes("size-3.5 shrink-0 text-ink-faint", isOpen && "rotate-90")} />
      <Picture aria-hidden className="size-4 shrink-0 text-ink-soft" />
      <span className="min-w-0 truncate font-medium">{inert(entry.state)}</span>
      {entry.visit > 1 && <Badge>visit {entry.visit}</Badge>}
      {entry.branch !== null && <Badge>{inert(entry.branch)}</Badge>}
      {entry.compensates !== null && <Badge tone="violet">undoes {inert(entry.compensates.state)}</Badge>}
      {entry.undone && <Badge tone="violet">undone</Badge>}
      {entry.attempts.length > 0 && <Badge tone="warn">{entry.attempts.length + 1} attempts</Badge>}
      <span className="ml-auto flex items-center gap-2.5 text-ink-soft text-xs">
        <Duration from={entry.enteredAt} to={entry.exitedAt} />
        {calm ? (
          <Badge tone="warn">{wordsOf(entry.status)}, led on</Badge>
        ) : (
          <Status status={isWaiting ? "waiting" : entry.status === "success" ? "succeeded" : entry.status} />
        )}
      </span>
      {entry.error !== null && (
        <span
          className={classes(
            "line-clamp-4 w-full whitespace-pre-wrap break-words pl-10 text-xs",
            calm ? "text-ink-soft" : "text-bad",
          )}
        >
          {inert(entry.error.slice(0, 500))}
        </span>
      )}
    </button>
  );
}

function Body({
  runId,
  entry,
  written,
  executions,
}: {
  readonly runId: string;
  readonly entry: Entry;
  readonly written: StateDefinition | null;
  readonly executions: readonly Schemas["Execution"][];
}) {
  return (
    <div className="flex min-w-0 flex-col gap-3 bg-canvas/60 px-4 py-3">
      <p className="m-0 text-ink-soft text-xs">
        Entered <Ago at={entry.enteredAt} />
        {entry.rule !== null && (
          <>
            {" "}
            · rule <code>{inert(wordsOfCondition(entry.rule.condition) || "always")}</code> led to{" "}
            <code>{inert(entry.rule.target)}</code>
          </>
        )}
      </p>
      <DecidedBy output={entry.output} />
      {entry.attempts.map(({ attempt, error, failedAt }) => (
        <p key={attempt} className="m-0 text-xs">
          <span className="text-bad">Attempt {attempt - 1} failed</span> <Ago at={failedAt} />: {inert(error)}
        </p>
      ))}
      {entry.progress !== null && <Progress progress={entry.progress} />}
      {written?.kind === "Map" && (
        <Items runId={runId} state={entry.state} visit={entry.visit} isOver={entry.exitedAt !== null} />
      )}
      {entry.children.map((id) => (
        <SubRun key={id} id={id} />
      ))}
      {written?.kind === "Fleet" && <OnHosts runId={runId} entry={entry} />}
      {executions.map((one) => (
        <ExecutionRow key={one.id} execution={one} />
      ))}
      {written !== null && <Part title="Input, as the state is written" value={written.written} />}
      {entry.prompt !== null && (
        <div>
          <h3 className="m-0 mb-1 text-ink-soft text-xs">Question</h3>
          <Lines text={entry.prompt} />
        </div>
      )}
      {entry.output !== undefined && <Part title="Output" value={entry.output} />}
    </div>
  );
}

/** Of a Human state: the caller who decided, as the record has it; what the caller called itself is in the output. */
function DecidedBy({ output }: { readonly output: unknown }) {
  const by = objectOf(objectOf(output)?.decided_by);
  if (by === null) return null;
  return (
    <p className="m-0 text-ink-soft text-xs">
      Decided by <Who of={{ sub: textOf(by.sub), email: textOf(by.email), kind: textOf(by.kind) }} />
    </p>
  );
}

/** The run over hosts of a Fleet state. The log names it when it has ended; until then it is looked for. */
function OnHosts({ runId, entry }: { readonly runId: string; readonly entry: Entry }) {
  const can = useCan();
  const named = fleetRunOf(entry);
  const { data } = useFleetRunsOf(runId, named === null && entry.exitedAt === null);
  const begun = named ?? data?.find(({ created_at }) => created_at >= entry.enteredAt)?.id;
  return begun === undefined || !can("aegis.edge.fleet.read") ? null : <FleetRow id={begun} />;
}

function Part({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <div className="min-w-0">
      <h3 className="m-0 mb-1 text-ink-soft text-xs">{title}</h3>
      <Value value={value} open={1} />
    </div>
  );
}
