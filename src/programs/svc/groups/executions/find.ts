/** The execution that a word names. */
import { answer, type Client } from "../../../client/client.ts";
import { isUuid } from "../../frame/names.ts";
import { Failure, usageFailure } from "../../process/exit.ts";

export const aboutExecution = { execution: "id; `last` is the newest one" };

/** @throws Failure `usage` for what is no id, `conflict` where there is no execution */
export async function executionId(client: Client, word: string): Promise<string> {
  if (isUuid(word)) return word;
  if (word !== "last") throw usageFailure(`${word} is not the id of an execution`, "`svc executions list` tells them.");
  const { items } = await answer(client.GET("/v1/executions", { params: { query: { limit: 1 } } }));
  const [newest] = items;
  if (newest === undefined) throw new Failure("conflict", "There is no execution yet");
  return newest.id;
}
