/** The machines that daemons of the service run on: hosts, groups of them, runs over them, how hosts come in, settings. */
import { Play } from "lucide-react";
import { useCan } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { type Tab, Tabs } from "../../kit/controls/tabs.tsx";
import { Page } from "../../kit/page.tsx";
import { AddHost } from "./enrolment/add-host.tsx";
import { Tokens } from "./enrolment/tokens.tsx";
import { Groups } from "./groups/groups.tsx";
import { Hosts } from "./hosts/hosts.tsx";
import { FleetRuns } from "./runs/runs.tsx";
import { Settings } from "./settings.tsx";

export function Fleet() {
  const can = useCan();
  const [{ tab }, change] = useFilters();
  const tabs: readonly (Tab | false)[] = [
    can("aegis.edge.hosts.read") && { id: "hosts", label: "Hosts", content: <Hosts /> },
    can("aegis.edge.hosts.read", "aegis.edge.groups.write") && { id: "groups", label: "Groups", content: <Groups /> },
    can("aegis.edge.fleet.read") && { id: "runs", label: "Runs", content: <FleetRuns /> },
    can("aegis.edge.enroll") && { id: "enrolment", label: "Enrolment", content: <Tokens /> },
    can("aegis.edge.fleet.read") && { id: "settings", label: "Settings", content: <Settings /> },
  ];
  const shown = tabs.filter((one) => one !== false);
  const chosen = shown.find(({ id }) => id === tab) ?? shown[0];
  return (
    <Page
      title="Fleet"
      about="Machines of your own that run commands for you"
      actions={
        <>
          {can("aegis.edge.enroll") && <AddHost />}
          {can("aegis.edge.fleet.manage") && (
            <ButtonLink to="/fleet/run" look="primary">
              <Play aria-hidden />
              Run a command
            </ButtonLink>
          )}
        </>
      }
    >
      {chosen !== undefined && (
        <Tabs
          tabs={shown.map((one) => ({ ...one, content: one.id === chosen.id ? one.content : null }))}
          chosen={chosen.id}
          // What filters one list means nothing to another.
          onChoose={(id) => change({ ...none, tab: id })}
        />
      )}
    </Page>
  );
}

const none = { status: "", tag: "", label: "", group: "", tool: "", outcome: "" };
