/** A link with which one person decides one approval without signing in. */
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input } from "../../kit/controls/field.tsx";
import { Dialog } from "../../kit/dialogs/dialog.tsx";
import { Trouble } from "../../kit/page.tsx";
import { Command } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import type { Pending } from "./queries.ts";

export function IssueLink({ approval, onClose }: { readonly approval: Pending; readonly onClose: () => void }) {
  const [recipient, setRecipient] = useState("");
  const [issued, setIssued] = useState<{ readonly url: string; readonly expires_at: string } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const issue = async () => {
    setBusy(true);
    setError(null);
    try {
      const params = { path: { id: approval.id } };
      const body = { recipient: recipient.trim() };
      setIssued(await answer(svc.POST("/v1/human-approvals/{id}/links", { params, body })));
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
      title="Link to send by e-mail"
      about="The person who has the link decides once, in the name of this address, without signing in."
      actions={
        issued === null ? (
          <Button look="primary" busy={busy} disabled={!recipient.includes("@")} onClick={() => void issue()}>
            Make the link
          </Button>
        ) : (
          <Button onClick={onClose}>Done</Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        {issued === null ? (
          <Input
            label="Address of the person"
            type="email"
            value={recipient}
            onChange={setRecipient}
            placeholder="person@example.com"
            autoFocus
            onEnter={() => void issue()}
          />
        ) : (
          <>
            <Command text={issued.url} />
            <p className="m-0 text-ink-soft text-xs">
              Shown once. It ends <Ago at={issued.expires_at} />.
            </p>
          </>
        )}
        {error !== null && <Trouble error={error} />}
      </div>
    </Dialog>
  );
}
