/** The source that a word names. */
import { answer, type Client, type Schemas } from "../../../client/client.ts";
import { isUuid } from "../../frame/names.ts";
import { Failure, usageFailure } from "../../process/exit.ts";

export const aboutSource = { source: "its id, or its name where no other source has that" };

/** @throws ApiError; Failure `conflict` for a name that is none's, `usage` for one that several have */
export async function findSource(client: Client, word: string): Promise<Schemas["Source"]> {
  if (isUuid(word)) return answer(client.GET("/v1/stimulus-routes/{id}", { params: { path: { id: word } } }));
  const { items } = await answer(client.GET("/v1/stimulus-routes", { params: { query: { source: word, limit: 2 } } }));
  const [first, second] = items;
  if (first === undefined)
    throw new Failure(
      "conflict",
      `There is no source ${word}`,
      "`svc sources list` tells which there are.",
      "not_found",
    );
  if (second !== undefined) throw usageFailure(`Several routes are of source ${word}: name one by its id`);
  return first;
}
