/** A token with which one host comes in, shown once, with the very line to paste on the machine. */
import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Input, Select } from "../../../kit/controls/field.tsx";
import { Dialog } from "../../../kit/dialogs/dialog.tsx";
import { Facts, Trouble } from "../../../kit/page.tsx";
import { Command } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { Tags } from "../tags.tsx";
import { partsOf } from "../words.ts";

type Issued = Schemas["IssuedEdgeEnrollmentToken"];

const lifetimes = [
  { value: "300", label: "5 minutes" },
  { value: "900", label: "15 minutes" },
];

export function AddHost({ look = "plain" }: { readonly look?: "plain" | "primary" }) {
  const queries = useQueryClient();
  const [isOpen, open] = useState(false);
  const [name, setName] = useState("");
  const [tags, setTags] = useState("");
  const [ttl, setTtl] = useState("900");
  const [issued, setIssued] = useState<Issued | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    open(false);
    setIssued(null);
    setError(null);
    queries.invalidateQueries({ queryKey: ["host"] }).catch(() => {});
  };
  const issue = async () => {
    setBusy(true);
    setError(null);
    try {
      const body = { ttl_seconds: Number(ttl), tags: [...partsOf(tags)], ...(name === "" ? {} : { name }) };
      setIssued(await answer(svc.POST("/v1/edge/enrollment-tokens", { body })));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button look={look} onClick={() => open(true)}>
        <Plus aria-hidden />
        Add a host
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={issued === null ? "Add a host" : "Paste this on the machine"}
        about={
          issued === null
            ? "Makes a token that lets one machine in, once."
            : "The token is shown only now. It lets in one machine, until it ends."
        }
        actions={
          issued === null ? (
            <>
              <Button look="ghost" onClick={close}>
                Not now
              </Button>
              <Button look="primary" busy={isBusy} onClick={() => void issue()}>
                Make a token
              </Button>
            </>
          ) : (
            <Button look="primary" onClick={close}>
              Done
            </Button>
          )
        }
      >
        {issued === null ? (
          <div className="flex flex-col gap-3">
            <Input label="Name" value={name} onChange={setName} hint="Absent: the machine's own" autoFocus />
            <Input
              label="Tags"
              value={tags}
              onChange={setTags}
              placeholder="web eu"
              hint="The service's word about the host. Aim commands and secrets by tags, not by what a host says of itself."
            />
            <Select label="Good for" value={ttl} choices={lifetimes} onChange={setTtl} />
            {error !== null && <Trouble error={error} />}
          </div>
        ) : (
          <div className="flex flex-col gap-4">
            <Command text={issued.command_hint} />
            <p className="m-0 text-ink-soft text-xs">
              It stores a key, asks for no rights of root, and installs the daemon as a service of the user. Add{" "}
              <code>--profile full</code> to allow every command, <code>--profile locked</code> to allow none; the
              standard profile allows a few that only look.
            </p>
            <Facts
              of={[
                ["Service", <code key="url">{issued.controller_url}</code>],
                ["Name", issued.name ?? "the machine's own"],
                ["Tags", <Tags key="tags" of={issued.tags} />],
                ["Ends", <Ago key="ends" at={issued.expires_at} />],
              ]}
            />
          </div>
        )}
      </Dialog>
    </>
  );
}
