/** Moves runs that wait to another version of their workflow. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Select } from "../../../kit/controls/field.tsx";
import { FormDialog } from "../../../kit/dialogs/form.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Trouble } from "../../../kit/page.tsx";
import { inert } from "../../../kit/values/text.tsx";
import type { Run } from "../model/queries.ts";

/** @param runs of one workflow */
export function Migrate({ runs, onClose }: { readonly runs: readonly Run[]; readonly onClose: () => void }) {
  const workflow = runs[0]?.workflow_name ?? "";
  const now = new Set(runs.map(({ workflow_version }) => workflow_version));
  const queries = useQueryClient();
  const [chosen, choose] = useState("");
  const { data, error } = useQuery({
    queryKey: ["workflow", "versions", workflow],
    queryFn: () => answer(svc.GET("/v1/workflows/{ref}/versions", { params: { path: { ref: workflow } } })),
  });
  const versions = (data?.items ?? []).filter(({ version }) => now.size > 1 || !now.has(version));
  const version = chosen === "" ? (versions[0]?.version ?? "") : chosen;
  const move = async () => {
    const body = { workflow, to_version: version, filter: { execution_ids: runs.map(({ id }) => id) } };
    const { migrated, refused } = await answer(svc.POST("/v1/workflows/executions/migrate", { body }));
    await queries.invalidateQueries({ queryKey: ["run"] });
    if (refused.length > 0)
      throw new Error(
        `${migrated.length} moved, ${refused.length} not. ${refused
          .slice(0, 5)
          .map((one) => `${one.execution_id.slice(0, 8)}: ${one.message}`)
          .join("; ")}`,
      );
    tell(migrated.length === 1 ? `It goes on as ${version}` : `${migrated.length} go on as ${version}`);
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title={runs.length === 1 ? "Move this run to another version?" : `Move ${runs.length} runs to another version?`}
      about={`Runs of ${inert(workflow)} that wait go on by the rules of the version that is chosen.`}
      verb="Move"
      disabled={version === ""}
      onSend={move}
    >
      {error !== null && <Trouble error={error} />}
      {data !== undefined && versions.length === 0 ? (
        <p className="m-0 text-ink-soft">The workflow has no other version.</p>
      ) : (
        <Select
          label="Version"
          value={version}
          choices={versions.map((one) => ({ value: one.version, label: one.version }))}
          onChange={choose}
        />
      )}
    </FormDialog>
  );
}
