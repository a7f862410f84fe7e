/** The router: an agent that chooses a workflow for messages whose source names none. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Split } from "lucide-react";
import { useId, useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Who } from "../../../app/who.tsx";
import { Button } from "../../../kit/controls/button.tsx";
import { Checkbox, Input, TextArea } from "../../../kit/controls/field.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { FormDialog } from "../../../kit/dialogs/form.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Empty, Facts, Loading, Panel, Trouble } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { partsOf } from "../words.ts";

type Configured = Schemas["ConfiguredRouter"];

export function Router() {
  const can = useCan();
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["source", "router"],
    queryFn: () => answer(svc.GET("/v1/stimulus-routes/router")),
  });
  if (data === undefined) return error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />;
  const router = data.configured ? data : null;
  const dialogs = (
    <>
      {isEditing && <RouterForm router={router} onClose={() => setEditing(false)} />}
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title="Remove the router?"
        about="Messages of sources without a workflow become dead letters from then on."
        verb="Remove"
        danger
        onConfirm={async () => {
          await svc.DELETE("/v1/stimulus-routes/router");
          await queries.invalidateQueries({ queryKey: ["source"] });
        }}
      />
    </>
  );
  if (router === null)
    return (
      <Panel title="Router">
        <Empty
          icon={Split}
          title="No router"
          actions={
            can("stimulus:manage") && (
              <Button look="primary" onClick={() => setEditing(true)}>
                Set one up
              </Button>
            )
          }
        >
          An agent that reads a message and names the workflow for it. Without one, messages of sources that name no
          workflow become dead letters.
        </Empty>
        {dialogs}
      </Panel>
    );
  return (
    <Panel
      title="Router"
      actions={
        can("stimulus:manage") && (
          <>
            <Button small look="danger" onClick={() => setDeleting(true)}>
              Remove
            </Button>
            <Button small onClick={() => setEditing(true)}>
              Change
            </Button>
          </>
        )
      }
    >
      <Facts
        of={[
          ["Agent", <Copyable key="agent" value={router.router_agent} mono={false} />],
          ["Sure enough at", `${Math.round(router.confidence_threshold * 100)} %`],
          ["It may take", `${router.timeout_seconds} s`],
          [
            "May choose",
            router.allowed_workflows === null ? (
              "every workflow of this organization"
            ) : (
              <span key="allowed" className="flex flex-wrap gap-1">
                {router.allowed_workflows.map((name) => (
                  <Badge key={name}>{inert(name)}</Badge>
                ))}
              </span>
            ),
          ],
          [
            "Changed",
            <span key="changed">
              <Ago at={router.updated_at} /> by <Who of={router.updated_by} />
            </span>,
          ],
        ]}
      />
      {dialogs}
    </Panel>
  );
}

function RouterForm({ router, onClose }: { readonly router: Configured | null; readonly onClose: () => void }) {
  const can = useCan();
  const queries = useQueryClient();
  const list = useId();
  const [agent, setAgent] = useState(router?.router_agent ?? "");
  const [threshold, setThreshold] = useState(String(router?.confidence_threshold ?? 0.7));
  const [seconds, setSeconds] = useState(String(router?.timeout_seconds ?? 30));
  const [isAll, setAll] = useState(router === null || router.allowed_workflows === null);
  const [allowed, setAllowed] = useState((router?.allowed_workflows ?? []).join("\n"));
  const agents = useQuery({
    queryKey: ["agent", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/agents", { params: { query: { limit: 200 } } })),
    enabled: can("agent:list"),
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Router"
      about="The agent gets the message and the workflows, and answers with JSON: workflow, confidence, reasoning."
      verb="Save"
      disabled={agent.trim() === ""}
      onSend={async () => {
        await svc.PUT("/v1/stimulus-routes/router", {
          body: {
            router_agent: agent.trim(),
            confidence_threshold: Number(threshold),
            timeout_seconds: Number(seconds),
            allowed_workflows: isAll ? null : partsOf(allowed),
          },
        });
        await queries.invalidateQueries({ queryKey: ["source"] });
        tell("The router is set");
      }}
    >
      <Input label="Agent" value={agent} onChange={setAgent} list={list} required />
      <datalist id={list}>
        {agents.data?.items.map(({ id, name }) => (
          <option key={id} value={name}>
            {inert(name)}
          </option>
        ))}
      </datalist>
      <div className="grid grid-cols-2 gap-3">
        <Input label="Least confidence" value={threshold} onChange={setThreshold} hint="0 to 1" />
        <Input label="Seconds it may take" type="number" value={seconds} onChange={setSeconds} hint="1 to 120" />
      </div>
      <Checkbox label="Every workflow of this organization" checked={isAll} onChange={setAll} />
      {!isAll && <TextArea label="Workflows it may choose" value={allowed} onChange={setAllowed} />}
    </FormDialog>
  );
}
