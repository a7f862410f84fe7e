/** Sends a delivery in again: as it came or edited, by the configuration of now or to a workflow of one's choice. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Code } from "../../../kit/code/code.tsx";
import { Checkbox, Input } from "../../../kit/controls/field.tsx";
import { FormDialog } from "../../../kit/dialogs/form.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { WorkflowInput } from "../workflow-input.tsx";

type Stimulus = Schemas["Stimulus"];

interface ReplayProps {
  readonly of: Stimulus;
  readonly isEdited: boolean;
  readonly onClose: () => void;
}

export function ReplayDialog({ of, isEdited, onClose }: ReplayProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [first] = useState(() => readable(of.content));
  const [text, setText] = useState(first.text);
  const [workflow, setWorkflow] = useState("");
  const [version, setVersion] = useState("");
  const isSpent = of.status === "classified" || of.status === "discarded" || of.replayed_by !== null;
  const [force, setForce] = useState(isSpent);
  const send = async () => {
    const body = {
      ...(workflow.trim() === "" ? {} : { workflow: workflow.trim() }),
      ...(workflow.trim() === "" || version.trim() === "" ? {} : { workflow_version: version.trim() }),
      ...(force ? { force } : {}),
      // What was only laid out for reading goes as it came.
      ...(isEdited && text !== first.text ? { content: text } : {}),
    };
    const sent = await answer(svc.POST("/v1/stimuli/{id}/replay", { params: { path: { id: of.id } }, body })).finally(
      () => queries.invalidateQueries({ queryKey: ["stimulus"] }),
    );
    tell(sent.status === "classified" ? "Replayed, and routed" : "Replayed; it is being routed");
    await navigate({ to: `/stimuli/${sent.stimulus_id}` });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      size={isEdited ? "large" : "small"}
      title={isEdited ? "Edit and replay" : "Replay this stimulus"}
      about={
        isEdited
          ? "The edited content comes in as a new stimulus; this one stays as it is."
          : "The same content comes in as a new stimulus, without a signature."
      }
      verb="Replay"
      disabled={isEdited && text.trim() === ""}
      onSend={send}
    >
      {isEdited && (
        <div className="overflow-hidden rounded-control border border-line">
          <Code
            label="Content of the replay"
            language={first.isJson ? "json" : "text"}
            value={text}
            onChange={setText}
            height="min(40dvh, 24rem)"
          />
        </div>
      )}
      <WorkflowInput
        label="Workflow"
        value={workflow}
        onChange={setWorkflow}
        hint="Empty: routed by the source and the router as they are now."
      />
      {workflow.trim() !== "" && (
        <Input label="Version (optional)" value={version} onChange={setVersion} placeholder="the latest" />
      )}
      <Checkbox
        label={
          isSpent
            ? "Replay although it was routed, discarded or replayed before"
            : "Replay even if its idempotency key was used before"
        }
        checked={force}
        onChange={setForce}
      />
    </FormDialog>
  );
}

/** JSON on one line is laid out, so that it can be edited. */
function readable(content: string): { readonly text: string; readonly isJson: boolean } {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value !== "object") return { text: content, isJson: false };
    return { text: content.includes("\n") ? content : JSON.stringify(value, null, 2), isJson: true };
  } catch {
    return { text: content, isJson: false };
  }
}
