/** One volume: its folders and files, to read, add, move and delete. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Loading, Page, Trouble } from "../../kit/page.tsx";
import { bytesText } from "../../kit/values/file-preview.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Browser } from "./browser.tsx";

export function VolumePage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const volume = useQuery({
    queryKey: ["volume", "one", id],
    queryFn: () => answer(svc.GET("/v1/volumes/{id}", { params: { path: { id } } })),
  });
  if (volume.data === undefined)
    return (
      <Page title="Volume" about={<Copyable value={id} />}>
        {volume.error === null ? (
          <Loading lines={8} />
        ) : (
          <Trouble error={volume.error} retry={() => void volume.refetch()} />
        )}
      </Page>
    );
  return <Shown key={id} volume={volume.data} />;
}

function Shown({ volume }: { readonly volume: Schemas["Volume"] }) {
  const can = useCan();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsked, ask] = useState(false);
  const { id, label } = volume;
  return (
    <Page
      title={label}
      beside={
        <>
          <Status status={volume.status} />
          <Badge>{volume.visibility === "private" ? "private" : "whole tenant"}</Badge>
        </>
      }
      about={
        <>
          <Link to={"/volumes" as never}>Volumes</Link>
          <Copyable value={id} short />
          <span>
            changed <Ago at={volume.updated_at} />
          </span>
          <span className="tabular-nums">
            {bytesText(volume.used_bytes)} of {bytesText(volume.size_limit_bytes)} used
          </span>
        </>
      }
      actions={
        can("volume:write") && (
          <Button look="danger" onClick={() => ask(true)}>
            <Trash2 aria-hidden />
            Delete
          </Button>
        )
      }
    >
      <Browser id={id} />
      <Confirm
        open={isAsked}
        onClose={() => ask(false)}
        title={`Delete ${inert(label)}?`}
        about={`Its ${volume.file_count.toLocaleString("en")} files are deleted with it. This cannot be undone.`}
        verb="Delete the volume"
        typed={label}
        danger
        onConfirm={async () => {
          await answer(svc.DELETE("/v1/volumes/{id}", { params: { path: { id } } }));
          tell("Deleted");
          await queries.invalidateQueries({ queryKey: ["volume", "list"] });
          navigate({ to: "/volumes" as never }).catch(() => {});
        }}
      />
    </Page>
  );
}
