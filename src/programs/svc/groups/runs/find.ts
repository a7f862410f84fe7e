/** The run that a word names. */
import { answer, type Client } from "../../../client/client.ts";
import { isUuid } from "../../frame/names.ts";
import { Failure, usageFailure } from "../../process/exit.ts";

export const aboutRun = { run: "id; `last` is the newest one" };

/** @throws Failure `usage` for what is no id, `conflict` where there is no run */
export async function runId(client: Client, word: string): Promise<string> {
  if (isUuid(word)) return word;
  if (word !== "last") throw usageFailure(`${word} is not the id of a run`, "`svc runs list` tells them.");
  const { items } = await answer(client.GET("/v1/workflows/executions", { params: { query: { limit: 1 } } }));
  const [newest] = items;
  if (newest === undefined) throw new Failure("conflict", "There is no run yet");
  return newest.id;
}
