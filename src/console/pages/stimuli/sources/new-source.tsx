/** Makes a source. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Button, ButtonLink } from "../../../kit/controls/button.tsx";
import { Input, Select } from "../../../kit/controls/field.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Page, Trouble } from "../../../kit/page.tsx";
import { changeOf, type Draft, emptyDraft } from "./draft.ts";
import { SourceSettings } from "./form.tsx";
import { FreshSecret } from "./fresh-secret.tsx";

export function NewSource() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [origin, setOrigin] = useState("minted");
  const [secret, setSecret] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [made, setMade] = useState<Schemas["ChangedSource"] | null>(null);
  const open = (id: string) => void navigate({ to: `/sources/${id}`, replace: true });
  const make = async () => {
    setBusy(true);
    setError(null);
    try {
      const source = await answer(
        svc.POST("/v1/stimulus-routes", {
          body: {
            source: draft.source.trim(),
            ...changeOf(draft, null),
            ...(origin === "minted" ? { generate_secret: true } : origin === "own" ? { secret } : {}),
          },
        }),
      );
      await queries.invalidateQueries({ queryKey: ["source"] });
      if (source.secret === undefined) {
        tell("The source is there");
        open(source.id);
      } else setMade(source);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title="New source"
      about="It gets a URL of its own. Its secret proves who sent a message."
      actions={
        <>
          <ButtonLink to="/sources" look="ghost">
            Cancel
          </ButtonLink>
          <Button
            look="primary"
            busy={isBusy}
            disabled={draft.source.trim() === "" || (origin === "own" && secret === "")}
            onClick={() => void make()}
          >
            Make the source
          </Button>
        </>
      }
    >
      {error !== null && <Trouble error={error} />}
      <SourceSettings
        isNew
        draft={draft}
        onChange={setDraft}
        secret={
          <>
            <Select
              label="Secret"
              value={origin}
              choices={[
                { value: "minted", label: "made here, shown once" },
                { value: "own", label: "one that the sender gave" },
                { value: "none", label: "later, or from the node's environment" },
              ]}
              onChange={setOrigin}
            />
            {origin === "own" && <OwnSecret value={secret} onChange={setSecret} />}
          </>
        }
      />
      {made?.secret !== undefined && <FreshSecret of={made} secret={made.secret} onClose={() => open(made.id)} />}
    </Page>
  );
}

export function OwnSecret({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  return (
    <Input
      label="The sender's secret"
      type="password"
      value={value}
      onChange={onChange}
      hint="16 to 256 characters, or secret:<path> of a secret kept here"
    />
  );
}
