/** The secret of a source: where it is, until when the one before it holds, and its rotation. */
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Select } from "../../../kit/controls/field.tsx";
import { FormDialog } from "../../../kit/dialogs/form.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Facts, Panel } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Ago, useNow } from "../../../kit/values/time.tsx";
import { secretSources } from "../words.ts";
import { FreshSecret } from "./fresh-secret.tsx";
import { OwnSecret } from "./new-source.tsx";

type Source = Schemas["Source"];

export function SecretPanel({ of }: { readonly of: Source }) {
  const can = useCan();
  const [isRotating, setRotating] = useState(false);
  const [fresh, setFresh] = useState<string | null>(null);
  const now = useNow(10_000);
  const previous = of.previous_secret_expires_at;
  const isHeld = previous !== null && Date.parse(previous) > now;
  return (
    <Panel
      title="Secret"
      actions={
        can("stimulus:manage") && (
          <Button small onClick={() => setRotating(true)}>
            <KeyRound aria-hidden />
            {of.secret_source === "stored" ? "Rotate" : "New secret"}
          </Button>
        )
      }
    >
      <Facts
        of={[
          [
            "Where it is",
            of.secret_source === "none" ? (
              <Badge key="none" tone="bad">
                {secretSources.none}
              </Badge>
            ) : (
              secretSources[of.secret_source]
            ),
          ],
          [
            "The one before",
            isHeld ? (
              <span key="held">
                <Badge tone="warn">still valid</Badge> ends <Ago at={previous} />
              </span>
            ) : (
              "not valid"
            ),
          ],
        ]}
      />
      {isRotating && <Rotation of={of} onClose={() => setRotating(false)} onMinted={setFresh} />}
      {fresh !== null && <FreshSecret of={of} secret={fresh} onClose={() => setFresh(null)} />}
    </Panel>
  );
}

const spans = [
  { value: "0", label: "no longer: it ends at once" },
  { value: "3600", label: "for an hour" },
  { value: "86400", label: "for a day" },
  { value: "604800", label: "for a week" },
  { value: "2592000", label: "for 30 days" },
] as const;

function Rotation({
  of,
  onClose,
  onMinted,
}: {
  readonly of: Source;
  readonly onClose: () => void;
  readonly onMinted: (secret: string) => void;
}) {
  const queries = useQueryClient();
  const [origin, setOrigin] = useState("minted");
  const [secret, setSecret] = useState("");
  const [valid, setValid] = useState("86400");
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`New secret for ${of.source}`}
      about="Deliveries signed with the secret of now pass as long as you say, so that the sender can change over without a gap."
      verb="Make it the secret"
      disabled={origin === "own" && secret === ""}
      onSend={async () => {
        const rotated = await answer(
          svc.POST("/v1/stimulus-routes/{id}/rotate-secret", {
            params: { path: { id: of.id } },
            body: { previous_valid_seconds: Number(valid), ...(origin === "own" ? { secret } : {}) },
          }),
        );
        await queries.invalidateQueries({ queryKey: ["source"] });
        if (rotated.secret === undefined) tell("The secret is changed");
        else onMinted(rotated.secret);
      }}
    >
      <Select
        label="The new one"
        value={origin}
        choices={[
          { value: "minted", label: "made here, shown once" },
          { value: "own", label: "one that the sender gave" },
        ]}
        onChange={setOrigin}
      />
      {origin === "own" && <OwnSecret value={secret} onChange={setSecret} />}
      <Select label="The secret of now stays valid" value={valid} choices={spans} onChange={setValid} />
    </FormDialog>
  );
}
