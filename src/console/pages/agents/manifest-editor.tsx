/** A manifest that is edited: checked by the service while it is typed, its findings at their lines, then deployed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CheckCircle2, CircleAlert, TriangleAlert, Upload } from "lucide-react";
import { useMemo, useState } from "react";
import { answer, type Schemas, yamlBody } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Code, Difference } from "../../kit/code/code.tsx";
import type { Finding } from "../../kit/code/editor.tsx";
import { Button } from "../../kit/controls/button.tsx";
import { Dialog } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Panel, Trouble } from "../../kit/page.tsx";
import { inert } from "../../kit/values/text.tsx";
import { useSettled } from "../../kit/values/time.tsx";
import { brokenIn, located } from "./findings.ts";

type Deployed = Schemas["AgentDeployed"];
type DryRun = Schemas["AgentDryRun"];

const actions: Readonly<Record<DryRun["action"], string>> = {
  create: "makes a new agent",
  new_version: "adds a version",
  overwrite: "makes a new revision of this version",
};

interface Checked {
  readonly findings: readonly Finding[];
  readonly dryRun: DryRun | null;
  readonly error: unknown;
}

async function check(text: string): Promise<Checked> {
  const broken = brokenIn(text);
  if (broken.length > 0) return { findings: broken, dryRun: null, error: null };
  try {
    const dryRun = (await answer(
      svc.POST("/v1/agents", { params: { query: { dry_run: true, force: true } }, ...yamlBody(text) }),
    )) as DryRun;
    return { findings: located(text, dryRun.warnings, "warning"), dryRun, error: null };
  } catch (error) {
    const issues = error instanceof ApiError ? error.issues : [];
    return { findings: located(text, issues), dryRun: null, error };
  }
}

/** @param deployed the text that is deployed now; null: of a new agent */
export function ManifestEditor({
  first,
  deployed,
  onDeployed,
}: {
  readonly first: string;
  readonly deployed: string | null;
  readonly onDeployed: (deployed: Deployed) => void;
}) {
  const can = useCan();
  const queries = useQueryClient();
  const [text, setText] = useState(first);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isCompared, compare] = useState(false);
  const settled = useSettled(text, 500);
  const mayDeploy = can("agent:deploy");
  const checked = useQuery({
    queryKey: ["manifest-check", settled],
    queryFn: () => check(settled),
    enabled: mayDeploy && settled !== deployed,
    gcTime: 10_000,
  });
  const told = settled === text && settled !== deployed ? checked.data : undefined;
  const findings = useMemo(() => told?.findings ?? [], [told]);
  const isChanged = text !== deployed;
  const deploy = async () => {
    setBusy(true);
    setError(null);
    try {
      const force = told?.dryRun?.action === "overwrite";
      const made = (await answer(
        svc.POST("/v1/agents", { params: { query: { force } }, ...yamlBody(text) }),
      )) as Deployed;
      tell(`${made.name} ${made.version} is deployed`);
      await queries.invalidateQueries({ queryKey: ["agent"] });
      onDeployed(made);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Panel
      flush
      title="Manifest"
      actions={
        mayDeploy && (
          <>
            {deployed !== null && isChanged && (
              <>
                <Button small look="ghost" onClick={() => setText(deployed)}>
                  Undo all
                </Button>
                <Button small look="ghost" onClick={() => compare(true)}>
                  Compare
                </Button>
              </>
            )}
            <Button
              small
              look="primary"
              busy={busy}
              disabled={!isChanged || told?.dryRun == null}
              onClick={() => void deploy()}
            >
              <Upload aria-hidden />
              Deploy
            </Button>
          </>
        )
      }
    >
      <Code
        label="Manifest"
        language="yaml"
        value={text}
        findings={findings}
        {...(mayDeploy ? { onChange: setText } : {})}
      />
      <div aria-live="polite" className="border-line border-t px-4 py-2.5">
        <Verdict isChanged={isChanged} checked={told} mayDeploy={mayDeploy} />
        {error !== null && <Trouble title="It was not deployed" error={error} />}
      </div>
      <Dialog
        open={isCompared}
        onClose={() => compare(false)}
        size="large"
        title="What differs"
        about="Left: as it is deployed. Right: as it is written now."
      >
        <Difference before={deployed ?? ""} after={text} language="yaml" />
      </Dialog>
    </Panel>
  );
}

function Verdict({
  isChanged,
  checked,
  mayDeploy,
}: {
  readonly isChanged: boolean;
  readonly checked: Checked | undefined;
  readonly mayDeploy: boolean;
}) {
  if (!mayDeploy) return <p className="m-0 text-ink-soft text-xs">You may read it; deploying needs another right.</p>;
  if (!isChanged) return <p className="m-0 text-ink-soft text-xs">This is what is deployed.</p>;
  if (checked === undefined) return <p className="m-0 text-ink-soft text-xs">Checking …</p>;
  const { findings, dryRun, error } = checked;
  if (findings.length === 0 && dryRun === null) return <Trouble error={error} />;
  return (
    <div className="flex flex-col gap-1.5">
      {dryRun !== null && (
        <p className="m-0 flex items-center gap-1.5 text-xs">
          <CheckCircle2 aria-hidden className="size-3.5 shrink-0 text-good" />
          Valid. Deploying {actions[dryRun.action]}: {inert(dryRun.name)} {inert(dryRun.version)}.
        </p>
      )}
      {findings.length > 0 && (
        <ul className="m-0 flex list-none flex-col gap-1 p-0 text-xs" aria-label="Findings">
          {findings.map(({ line, message, severity }) => (
            <li key={`${line} ${message}`} className="flex items-start gap-1.5">
              {severity === "error" ? (
                <CircleAlert aria-hidden className="mt-px size-3.5 shrink-0 text-bad" />
              ) : (
                <TriangleAlert aria-hidden className="mt-px size-3.5 shrink-0 text-warn" />
              )}
              <span className="shrink-0 text-ink-soft">line {line}</span>
              <span className="min-w-0 break-words">{inert(message)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
