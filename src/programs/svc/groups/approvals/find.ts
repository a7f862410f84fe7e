/** The approval that a word names. */
import { answer, type Client, type Schemas } from "../../../client/client.ts";
import { items } from "../../../client/pages.ts";
import { given } from "../../frame/body.ts";
import { isUuid } from "../../frame/names.ts";
import { Failure, usageFailure } from "../../process/exit.ts";

export const aboutApproval = { approval: "its id; `last` is the newest that waits for you" };

/** @throws Failure `usage` for what is no id, `conflict` where nothing waits */
export async function approvalId(client: Client, word: string): Promise<string> {
  if (isUuid(word)) return word;
  if (word !== "last") throw usageFailure(`${word} is not the id of an approval`, "`svc approvals list` tells them.");
  let newest: Schemas["PendingApproval"] | null = null;
  const waiting = items((cursor) =>
    answer(client.GET("/v1/human-approvals", { params: { query: { limit: 200, ...given({ cursor }) } } })),
  );
  for await (const one of waiting) if (newest === null || one.created_at > newest.created_at) newest = one;
  if (newest === null) throw new Failure("conflict", "Nothing waits for you");
  return newest.id;
}
