/** What can be done with a server of tools. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { MoreHorizontal, Power, PowerOff, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Button, IconButton } from "../../../kit/controls/button.tsx";
import { Menu } from "../../../kit/controls/menu.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell, tellError } from "../../../kit/dialogs/toast.tsx";
import type { Server } from "../words.ts";

export function ServerActions({ server }: { readonly server: Server }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const [isRemoved, remove] = useState(false);
  const { name, enabled, source } = server;
  const params = { path: { name } };
  const renew = () => queries.invalidateQueries({ queryKey: ["tool_server"] });
  const act = async (done: string, failed: string, work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await work();
      tell(done);
      await renew();
    } catch (error) {
      tellError(failed, error);
    } finally {
      setBusy(false);
    }
  };
  const restart = () =>
    act("It is begun anew", "It was not restarted", () =>
      answer(svc.POST("/v1/tool-servers/{name}/restart", { params })),
    );
  const enable = (next: boolean) =>
    act(next ? "Enabled" : "Disabled: its tools are gone", "It stays as it was", () =>
      answer(svc.PATCH("/v1/tool-servers/{name}", { params, body: { enabled: next } })),
    );
  return (
    <>
      {enabled ? (
        <Button busy={isBusy} onClick={() => void restart()}>
          <RotateCw aria-hidden />
          Restart
        </Button>
      ) : (
        source === "api" && (
          <Button look="primary" busy={isBusy} onClick={() => void enable(true)}>
            <Power aria-hidden />
            Enable
          </Button>
        )
      )}
      {source === "api" && (
        <Menu
          trigger={
            <IconButton label="More" look="plain">
              <MoreHorizontal aria-hidden />
            </IconButton>
          }
          items={[
            enabled && { label: "Disable", icon: PowerOff, onClick: () => void enable(false) },
            { label: "Delete …", icon: Trash2, danger: true, onClick: () => remove(true) },
          ]}
        />
      )}
      <Confirm
        open={isRemoved}
        onClose={() => remove(false)}
        danger
        title={`Delete ${name}?`}
        about="Its processes and connections end, and its tools are gone: agents that name them cannot call them any more. This cannot be undone."
        verb="Delete the server"
        typed={name}
        onConfirm={async () => {
          await answer(svc.DELETE("/v1/tool-servers/{name}", { params }));
          tell(`${name} is deleted`);
          await navigate({ to: "/tools" as never });
          queries.removeQueries({ queryKey: ["tool_server", "one", name] });
          await renew();
        }}
      />
    </>
  );
}
