/** What one host said. */
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { IconButton } from "../../../kit/controls/button.tsx";
import { Panel } from "../../../kit/page.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { Status } from "../../../kit/values/status.tsx";
import { inert, Lines } from "../../../kit/values/text.tsx";
import { durationText } from "../../../kit/values/time.tsx";
import type { Cell } from "./cells.ts";

export function Output({ cell, onClose }: { readonly cell: Cell | null; readonly onClose: () => void }) {
  if (cell === null) return null;
  const { id, name, status, attempt, exitCode, durationMs, message, stdout, stderr, structured, missed } = cell;
  const isSilent = stdout === "" && stderr === "" && structured === null;
  return (
    <Panel
      title={inert(name)}
      beside={
        <>
          <Status status={status} />
          <span className="flex gap-3 text-ink-soft text-xs">
            {exitCode !== null && <span>exit {exitCode}</span>}
            {durationMs !== null && <span>{durationText(durationMs)}</span>}
            {attempt > 1 && <span>attempt {attempt}</span>}
            <Link to={`/fleet/hosts/${id}`} className="text-accent hover:underline">
              the host
            </Link>
          </span>
        </>
      }
      actions={
        <IconButton label="Close the output" onClick={onClose}>
          <X aria-hidden />
        </IconButton>
      }
    >
      <div className="flex flex-col gap-3" aria-live="polite">
        {message !== null && <p className="m-0 text-bad">{inert(message)}</p>}
        {missed > 0 && (
          <p className="m-0 text-warn text-xs">{missed.toLocaleString("en")} bytes of output did not get through.</p>
        )}
        {stdout !== "" && <Lines text={stdout} />}
        {stderr !== "" && (
          <div>
            <h3 className="m-0 mb-1 font-medium text-ink-soft text-xs">Standard error</h3>
            <Lines text={stderr} />
          </div>
        )}
        {structured !== null && <Value value={structured} />}
        {isSilent && message === null && (
          <p className="m-0 text-ink-soft">No output {status === "running" ? "yet" : ""}</p>
        )}
      </div>
    </Panel>
  );
}
