/** Changes of a server of tools: every node connects anew. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { ApiError } from "../../../../programs/client/errors.ts";
import { svc } from "../../../app/session/api.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Trouble } from "../../../kit/page.tsx";
import type { Server } from "../words.ts";
import { areAllPlaced, bodyOf, draftOf } from "./draft.ts";
import { ServerForm } from "./form.tsx";

export function EditServer({ server }: { readonly server: Server }) {
  const queries = useQueryClient();
  const [first, setFirst] = useState(() => draftOf(server));
  const [draft, setDraft] = useState(first);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const issues = error instanceof ApiError ? error.issues : [];
  const isChanged = JSON.stringify(bodyOf(draft)) !== JSON.stringify(bodyOf(first));
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      const params = { path: { name: server.name } };
      const saved = await answer(svc.PATCH("/v1/tool-servers/{name}", { params, body: bodyOf(draft) }));
      const written = draftOf(saved);
      setFirst(written);
      setDraft(written);
      tell("Saved", "Every node connects anew.");
      await queries.invalidateQueries({ queryKey: ["tool_server"] });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="flex min-w-0 flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) void save();
      }}
    >
      <ServerForm draft={draft} onChange={setDraft} isNew={false} issues={issues} />
      {error !== null && !areAllPlaced(issues) && <Trouble title="It was not saved" error={error} />}
      {areAllPlaced(issues) && (
        <p role="alert" className="m-0 text-bad">
          It was not saved: see the fields that are marked.
        </p>
      )}
      <div className="flex gap-2">
        <Button look="primary" type="submit" busy={busy} disabled={!isChanged}>
          Save
        </Button>
        {isChanged && (
          <Button look="ghost" onClick={() => setDraft(first)}>
            Undo all
          </Button>
        )}
      </div>
    </form>
  );
}
