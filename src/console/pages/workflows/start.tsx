/** Starts a workflow: a form of its input schema, else of the names that it reads, and JSON for the rest. */
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Dialog } from "../../kit/dialogs/dialog.tsx";
import { Trouble } from "../../kit/page.tsx";
import { SchemaForm, useSchemaValue } from "../../kit/schema/schema-form.tsx";
import { inert } from "../../kit/values/text.tsx";
import type { Definition } from "./model/definition.ts";
import { leftEmpty, schemaOfNames } from "./model/input-names.ts";

/** @param definition of the newest version; null: it could not be read */
export function Start({
  name,
  definition,
  onClose,
}: {
  readonly name: string;
  readonly definition: Definition | null;
  readonly onClose: () => void;
}) {
  const schema = useMemo(
    () => definition?.inputSchema ?? (definition === null ? null : schemaOfNames(definition)),
    [definition],
  );
  const { check, ...input } = useSchemaValue(schema, schema === null ? {} : undefined);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  /** What was left empty when the reader was warned; starting once more is their answer. */
  const [warned, warn] = useState("");
  const navigate = useNavigate();
  const empty = definition === null ? [] : leftEmpty(definition, input.value);
  const isWarned = empty.length > 0 && warned === empty.join();
  const start = async () => {
    if (busy || !(await check())) return;
    if (empty.length > 0 && !isWarned) return warn(empty.join());
    setBusy(true);
    setError(null);
    try {
      const params = { path: { ref: name } };
      const { execution_id } = await answer(
        svc.POST("/v1/workflows/{ref}/run", { params, body: { input: input.value ?? {} } }),
      );
      await navigate({ to: `/runs/${execution_id}` });
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
      title={`Start ${name}`}
      about={
        definition?.inputSchema !== null
          ? undefined
          : schema === null
            ? "It reads no member of its input by name."
            : "What its templates and rules read of its input."
      }
      actions={
        <Button look="primary" busy={busy} onClick={() => void start()}>
          {isWarned ? "Start anyway" : "Start"}
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <SchemaForm
          label="Input"
          root="input"
          schema={schema}
          {...input}
          issues={error instanceof ApiError ? error.issues : []}
          onSubmit={() => void start()}
        />
        {isWarned && input.broken === null && (
          <p role="alert" className="m-0 rounded-control bg-warn-soft px-3 py-2 text-warn">
            Left empty, though the workflow reads {empty.length === 1 ? "it" : "them"}:{" "}
            <code>{inert(empty.join(", "))}</code>. Its text has a gap there.
          </p>
        )}
        {error !== null && <Trouble error={error} />}
      </div>
    </Dialog>
  );
}
