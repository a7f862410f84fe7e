/** The agent that a word names. */
import { answer, type Client, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { isUuid } from "../../frame/names.ts";

/** @param name an agent's name or id @throws ApiError */
export function findAgent(client: Client, name: string, version?: string): Promise<Schemas["AgentDetail"]> {
  if (isUuid(name)) return detail(client, name, version);
  const found = answer(client.GET("/v1/agents/lookup/{name}", { params: { path: { name } } }));
  return version === undefined ? found : found.then(({ id }) => detail(client, id, version));
}

export const agentId = async (client: Client, name: string): Promise<string> =>
  isUuid(name) ? name : (await findAgent(client, name)).id;

/** @param version the current one without it @throws ApiError */
export const detail = (client: Client, id: string, version?: string): Promise<Schemas["AgentDetail"]> =>
  answer(client.GET("/v1/agents/{id}", { params: { path: { id }, query: given({ version }) } }));
