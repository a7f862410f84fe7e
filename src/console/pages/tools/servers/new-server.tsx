/** A new server of tools. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { ApiError } from "../../../../programs/client/errors.ts";
import { svc } from "../../../app/session/api.ts";
import { useMe } from "../../../app/session/session.ts";
import { Button, ButtonLink } from "../../../kit/controls/button.tsx";
import { TextLink } from "../../../kit/controls/link.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Page, Trouble } from "../../../kit/page.tsx";
import { serverLink } from "../words.ts";
import { areAllPlaced, type Draft, emptyDraft, newBodyOf } from "./draft.ts";
import { ServerForm } from "./form.tsx";

export function NewServer() {
  const { operator } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(operator));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const issues = error instanceof ApiError ? error.issues : [];
  const add = async () => {
    setBusy(true);
    setError(null);
    try {
      const made = await answer(svc.POST("/v1/tool-servers", { params: {}, body: newBodyOf(draft) }));
      tell(`${made.name} is added`);
      await queries.invalidateQueries({ queryKey: ["tool_server", "list"] });
      await navigate({ to: serverLink(made.name) as never });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const isReady =
    draft.name.trim() !== "" && (draft.transport === "stdio" ? draft.executable : draft.url).trim() !== "";
  return (
    <Page title="Add a server of tools" about={<TextLink to="/tools">Tools</TextLink>}>
      <form
        className="flex min-w-0 flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void add();
        }}
      >
        <ServerForm draft={draft} onChange={setDraft} isNew issues={issues} />
        {error !== null && !areAllPlaced(issues) && <Trouble title="It was not added" error={error} />}
        {areAllPlaced(issues) && (
          <p role="alert" className="m-0 text-bad">
            It was not added: see the fields that are marked.
          </p>
        )}
        <div className="flex gap-2">
          <Button look="primary" type="submit" busy={busy} disabled={!isReady}>
            Add the server
          </Button>
          <ButtonLink look="ghost" to={"/tools" as never}>
            Cancel
          </ButtonLink>
        </div>
      </form>
    </Page>
  );
}
