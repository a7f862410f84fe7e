/** Tools: the servers that bring them, all that there are, and their calls. */
import { Plus } from "lucide-react";
import { useCan } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Page } from "../../kit/page.tsx";
import { Calls } from "./calls/calls.tsx";
import { Servers } from "./servers/servers.tsx";
import { AllTools } from "./tool/all-tools.tsx";

export function Tools() {
  const can = useCan();
  const [{ tab }, change] = useFilters();
  const tabs = [
    ...(can("tool_server:read") ? [{ id: "servers", label: "Servers", content: <Servers /> }] : []),
    ...(can("agent:read") ? [{ id: "all", label: "All tools", content: <AllTools /> }] : []),
    ...(can("execution:read") ? [{ id: "calls", label: "Calls", content: <Calls /> }] : []),
  ];
  const [first] = tabs;
  const chosen = tabs.find(({ id }) => id === tab) ?? first;
  return (
    <Page
      title="Tools"
      about="What agents and signed sessions may call: the service's own tools, and those of MCP servers."
      actions={
        can("tool_server:write") && (
          <ButtonLink to={"/tools/new-server" as never} look="primary">
            <Plus aria-hidden />
            Add a server
          </ButtonLink>
        )
      }
    >
      <Tabs
        tabs={tabs}
        chosen={chosen?.id ?? ""}
        // Filters belong to the tab that has them.
        onChoose={(id) =>
          change({ tab: id === first?.id ? "" : id, q: "", source: "", tool: "", outcome: "", decision: "" })
        }
      />
    </Page>
  );
}
