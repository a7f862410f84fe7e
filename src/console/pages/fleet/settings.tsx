/** What holds for all runs of the tenant: who has to approve, and whether anything is sent at all. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Checkbox, Input, Select, Switch } from "../../kit/controls/field.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";

type Values = Schemas["FleetSettings"];

export function Settings() {
  const { data, error, refetch } = useQuery({
    queryKey: ["fleet_run", "list", "settings"],
    queryFn: () => answer(svc.GET("/v1/edge/settings")),
  });
  if (data === undefined) return error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />;
  return <Form key={JSON.stringify(data)} saved={data} />;
}

const agentRuns = [
  { value: "approve", label: "ask a person" },
  { value: "allow", label: "start at once" },
  { value: "deny", label: "are refused" },
];

function Form({ saved }: { readonly saved: Values }) {
  const queries = useQueryClient();
  const canWrite = useCan()("aegis.edge.fleet.manage");
  const [values, setValues] = useState(saved);
  const [above, setAbove] = useState(saved.approve_above === null ? "" : String(saved.approve_above));
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const change = (part: Partial<Values>) => setValues({ ...values, ...part });
  const wanted = { ...values, approve_above: above.trim() === "" ? null : Number(above) };
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await answer(svc.PUT("/v1/edge/settings", { body: wanted }));
      await queries.invalidateQueries({ queryKey: ["fleet_run"] });
      tell("The settings are saved");
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <fieldset disabled={!canWrite} className="m-0 flex min-w-0 max-w-3xl flex-col gap-4 border-0 p-0">
      <Panel title="Commands to hosts">
        <div className="flex flex-col gap-2">
          <Switch
            label="Commands are sent"
            checked={values.dispatch_enabled}
            onChange={(dispatch_enabled) => change({ dispatch_enabled })}
          />
          <p className="m-0 text-ink-soft text-xs">
            Off stops everything: all runs pause, and no new one starts. What runs on a host already goes on.
          </p>
        </div>
      </Panel>
      <Panel title="Approval">
        <div className="flex flex-col gap-4">
          <Checkbox
            label="A run over every host has to be approved"
            checked={values.approve_all}
            onChange={(approve_all) => change({ approve_all })}
          />
          <Input
            label="A run has to be approved above this number of hosts"
            type="number"
            className="max-w-xs"
            value={above}
            onChange={setAbove}
            placeholder="no limit"
          />
          <Select
            label="Runs that agents ask for"
            className="max-w-xs"
            value={values.agent_runs}
            choices={agentRuns}
            onChange={(next) => change({ agent_runs: next as Values["agent_runs"] })}
          />
          <Checkbox
            label="The person who asked for a run may approve it"
            checked={values.self_approval}
            onChange={(self_approval) => change({ self_approval })}
          />
        </div>
      </Panel>
      {error !== null && <Trouble error={error} />}
      {canWrite && (
        <Button
          look="primary"
          className="self-start"
          busy={isBusy}
          disabled={JSON.stringify(wanted) === JSON.stringify(saved)}
          onClick={() => void save()}
        >
          Save
        </Button>
      )}
    </fieldset>
  );
}
