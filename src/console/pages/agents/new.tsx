/** A new agent, from a manifest with comments. */
import { useNavigate } from "@tanstack/react-router";
import { firstAgent } from "../../../programs/client/first-agent.ts";
import { Page } from "../../kit/page.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { ManifestEditor } from "./manifest-editor.tsx";

export function NewAgent() {
  const navigate = useNavigate();
  return (
    <Page
      title="New agent"
      about={
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          Change what is below and deploy it. From a terminal:
          <Cli args="agents deploy agent.yaml" />
        </span>
      }
    >
      <ManifestEditor
        first={firstAgent("my-agent")}
        deployed={null}
        onDeployed={({ agent_id: id }) =>
          void navigate({ to: "/agents/$id" as never, params: { id } as never, search: { tab: "run" } as never })
        }
      />
    </Page>
  );
}
