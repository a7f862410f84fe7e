/** Deploys manifests: what runs afterwards is what the file says. */
import { answer, type Client, type Schemas, yamlBody } from "../../../client/client.ts";
import { ApiError } from "../../../client/errors.ts";
import { detail } from "./find.ts";

export type Deployed =
  | { readonly change: "deployed"; readonly agent: Schemas["AgentDeployed"] }
  /** The very text is there already. */
  | { readonly change: "unchanged"; readonly agent: Schemas["AgentDetail"] };

/**
 * Stores the manifest unless it is there already. One that was changed under its version becomes a new revision.
 *
 * @param isForced stores it in any case
 * @throws ApiError with every issue of the manifest
 */
export async function deploy(client: Client, manifest: string, isForced = false): Promise<Deployed> {
  const send = (force: boolean) =>
    answer(client.POST("/v1/agents", { params: { query: { force } }, ...yamlBody(manifest) }));
  try {
    return deployed(await send(isForced));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "agent_version_exists") throw error;
    const { agent_id, version } = error.body;
    const agent = await detail(client, String(agent_id), String(version));
    if (agent.manifest_yaml === manifest) return { change: "unchanged", agent };
    return deployed(await send(true));
  }
}

function deployed(agent: Schemas["AgentDeployed"] | Schemas["AgentDryRun"]): Deployed {
  if ("dry_run" in agent) throw new Error("The service tried what it was told to do");
  return { change: "deployed", agent };
}
