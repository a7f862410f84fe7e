/** What can be done with an execution: cancel, start again as it was or with another input, delete. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ban, MoreHorizontal, RotateCcw, SquarePen, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { Input } from "../../kit/controls/field.tsx";
import { Menu } from "../../kit/controls/menu.tsx";
import { Confirm, Dialog } from "../../kit/dialogs/dialog.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { Trouble } from "../../kit/page.tsx";
import { InputFields } from "../../kit/schema/input-fields.tsx";
import { useSchemaValue } from "../../kit/schema/schema-form.tsx";

export const isLive = (status: string): boolean => status === "pending" || status === "running";

/** Starts an execution that has ended once more, as it was. @returns the new one's id */
export async function retry(id: string): Promise<string> {
  return (await answer(svc.POST("/v1/executions/{id}/retry", { params: { path: { id } }, body: {} }))).id;
}

export const cancel = (id: string, reason?: string) =>
  answer(
    svc.POST("/v1/executions/{id}/cancel", { params: { path: { id } }, body: reason === undefined ? {} : { reason } }),
  );

export function ExecutionActions({ record }: { readonly record: Schemas["ExecutionRecord"] }) {
  const can = useCan();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, ask] = useState<"cancel" | "delete" | "edit" | null>(null);
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const { id, status } = record;
  const renew = () => queries.invalidateQueries({ queryKey: ["execution"] });
  const open = (started: string) => {
    tell("Started again");
    navigate({ to: "/executions/$id", params: { id: started } }).catch(() => {});
  };
  const again = async () => {
    setBusy(true);
    try {
      open(await retry(id));
    } catch (error) {
      tellError("It was not started again", error);
    } finally {
      setBusy(false);
    }
  };
  const canRetry = can("agent:execute") && !isLive(status);
  return (
    <>
      {isLive(status) && can("execution:cancel") && (
        <Button look="danger" onClick={() => ask("cancel")}>
          <Ban aria-hidden />
          Cancel
        </Button>
      )}
      {canRetry && (
        <>
          <Button onClick={() => ask("edit")}>
            <SquarePen aria-hidden />
            Retry with changes
          </Button>
          <Button look="primary" busy={busy} onClick={again}>
            <RotateCcw aria-hidden />
            Retry
          </Button>
        </>
      )}
      <Menu
        trigger={
          <IconButton label="More">
            <MoreHorizontal aria-hidden />
          </IconButton>
        }
        items={[
          can("execution:remove") && {
            label: "Delete",
            icon: Trash2,
            danger: true,
            onClick: () => ask("delete"),
          },
        ]}
      />
      <Confirm
        open={asked === "cancel"}
        onClose={() => ask(null)}
        title="Cancel this execution?"
        about="Its sandbox is ended within 10 seconds, and so are its children. What it wrote stays."
        verb="Cancel the execution"
        danger
        onConfirm={async () => {
          await cancel(id, reason === "" ? undefined : reason);
          tell("Cancelled");
          await renew();
        }}
      >
        <Input label="Reason" hint="Optional; it stands in the record." value={reason} onChange={setReason} />
      </Confirm>
      <Confirm
        open={asked === "delete"}
        onClose={() => ask(null)}
        title="Delete this execution?"
        about="It is cancelled if need be, and its record, events and files are removed. This cannot be undone."
        verb="Delete the execution"
        danger
        onConfirm={async () => {
          await answer(svc.DELETE("/v1/executions/{id}", { params: { path: { id } } }));
          tell("Deleted");
          navigate({ to: "/executions" }).catch(() => {});
          await queries.invalidateQueries({ queryKey: ["execution", "list"] });
        }}
      />
      {asked === "edit" && <RetryDialog record={record} onClose={() => ask(null)} onStarted={open} />}
    </>
  );
}

/** The same once more, with another input or another version of the agent. */
function RetryDialog({
  record,
  onClose,
  onStarted,
}: {
  readonly record: Schemas["ExecutionRecord"];
  readonly onClose: () => void;
  readonly onStarted: (id: string) => void;
}) {
  const can = useCan();
  const [version, setVersion] = useState(record.agent_version);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const agent = useQuery({
    queryKey: ["agent", "one", record.agent_id, record.agent_version],
    queryFn: () =>
      answer(
        svc.GET("/v1/agents/{id}", {
          params: { path: { id: record.agent_id }, query: { version: record.agent_version } },
        }),
      ),
    enabled: can("agent:read"),
    retry: false,
  });
  // An agent that is gone has no schema to show: the input is JSON then.
  const schema = agent.data !== undefined && "input_schema" in agent.data ? agent.data.input_schema : null;
  const input = useSchemaValue(schema, record.input ?? undefined);
  const start = async () => {
    if (!(await input.check())) return;
    setBusy(true);
    setError(null);
    try {
      const body = {
        ...(input.value === undefined ? {} : { input: input.value }),
        ...(version.trim() === "" || version === record.agent_version ? {} : { version: version.trim() }),
      };
      const started = await answer(
        svc.POST("/v1/executions/{id}/retry", { params: { path: { id: record.id } }, body: body as never }),
      );
      onClose();
      onStarted(started.id);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      size="large"
      title="Retry with changes"
      about="A new execution of the same agent. What is not changed here is as it was."
      actions={
        <>
          <Button look="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button look="primary" busy={busy} onClick={start}>
            <RotateCcw aria-hidden />
            Start
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <InputFields
          key={schema === null ? 0 : 1}
          schema={schema}
          input={input}
          issues={error instanceof ApiError ? error.issues : []}
        />
        <Input
          label="Version of the agent"
          className="max-w-60"
          mono
          value={version}
          onChange={setVersion}
          hint="The version that ran, in its present revision, unless you name another."
        />
        {error !== null && <Trouble error={error} />}
      </div>
    </Dialog>
  );
}
