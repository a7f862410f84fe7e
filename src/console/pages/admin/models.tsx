/** The models that agents may ask for. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Cpu, RefreshCw } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { Empty, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";

export function Models() {
  const { role } = useMe();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["model", "list"],
    queryFn: () => answer(svc.GET("/v1/models")),
  });
  const reload = async () => {
    setBusy(true);
    try {
      const { count } = await answer(svc.POST("/v1/admin/llm/reload"));
      tell("Read again", `${count} models are served`);
      await queries.invalidateQueries({ queryKey: ["model"] });
    } catch (failure) {
      tellError("The configuration stays as it was", failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title="Models"
      about="Agents name an alias; the configuration says which model answers it."
      actions={
        role !== null &&
        role !== "readonly" && (
          <Button busy={busy} onClick={() => void reload()}>
            <RefreshCw aria-hidden />
            Read the configuration again
          </Button>
        )
      }
    >
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <Trouble error={error} retry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <Empty icon={Cpu} title="No model is configured" />
      ) : (
        <ul className="m-0 grid list-none gap-3 p-0 md:grid-cols-2 xl:grid-cols-3">
          {data.items.map((model) => (
            <li key={model.alias}>
              <Panel title={inert(model.alias)}>
                <p className="m-0 text-ink-soft">
                  {model.context_window !== null && `${model.context_window.toLocaleString("en")} tokens of context, `}
                  at most {model.max_output_tokens.toLocaleString("en")} tokens of output a call
                </p>
                <p className="mt-2 mb-0 flex flex-wrap gap-1">
                  {model.capabilities.map((capability) => (
                    <Badge key={capability}>{capability.replaceAll("_", " ")}</Badge>
                  ))}
                </p>
              </Panel>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
