/** What can be done with an agent: run, pause, resume, delete. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CirclePause, MoreHorizontal, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Menu } from "../../kit/controls/menu.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { inert } from "../../kit/values/text.tsx";

export function AgentActions({ agent }: { readonly agent: Schemas["AgentDetail"] }) {
  const can = useCan();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [, change] = useFilters();
  const [isAsked, ask] = useState(false);
  const [busy, setBusy] = useState(false);
  const { id, name, status } = agent;
  const params = { path: { id } };
  const turn = async (to: "pause" | "resume") => {
    setBusy(true);
    try {
      await answer(
        to === "pause" ? svc.POST("/v1/agents/{id}/pause", { params }) : svc.POST("/v1/agents/{id}/resume", { params }),
      );
      tell(to === "pause" ? "Paused: it takes no new executions" : "Resumed");
      await queries.invalidateQueries({ queryKey: ["agent"] });
    } catch (error) {
      tellError(to === "pause" ? "It was not paused" : "It was not resumed", error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {status === "paused" && can("agent:deploy") && (
        <Button busy={busy} onClick={() => void turn("resume")}>
          Resume
        </Button>
      )}
      {status === "active" && can("agent:execute") && (
        <Button look="primary" onClick={() => change({ tab: "run" })}>
          <Play aria-hidden />
          Run
        </Button>
      )}
      <Menu
        trigger={
          <IconButton label="More">
            <MoreHorizontal aria-hidden />
          </IconButton>
        }
        items={[
          status === "active" &&
            can("agent:deploy") && { label: "Pause", icon: CirclePause, onClick: () => void turn("pause") },
          status !== "archived" &&
            can("agent:delete") && { label: "Delete", icon: Trash2, danger: true, onClick: () => ask(true) },
        ]}
      />
      <Confirm
        open={isAsked}
        onClose={() => ask(false)}
        title={`Delete ${inert(name)}?`}
        about="It takes no more executions, and its schedule ends. Executions that were made stay readable."
        verb="Delete the agent"
        typed={name}
        danger
        onConfirm={async () => {
          await answer(svc.DELETE("/v1/agents/{id}", { params }));
          tell(`${name} is deleted`);
          await queries.invalidateQueries({ queryKey: ["agent", "list"] });
          navigate({ to: "/agents" }).catch(() => {});
        }}
      />
    </>
  );
}
