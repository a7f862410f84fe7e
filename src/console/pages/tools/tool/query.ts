/** Reading one tool. */
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import type { Tool } from "../words.ts";

/** A tool of the tenant by its name, or one of its other names. */
export const toolQuery = (name: string) => ({
  queryKey: ["tool", "one", name],
  async queryFn(): Promise<Tool | null> {
    // Either prefix names a management tool; the list has one of them.
    const bare = name.replace(/^(svc|aegis)\./, "");
    const { items } = await answer(svc.GET("/v1/seal/tools", { params: { query: { q: bare, limit: 500 } } }));
    return items.find((tool) => tool.name === name) ?? items.find(({ aliases }) => aliases.includes(name)) ?? null;
  },
});
