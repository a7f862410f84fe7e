/** Records that the command palette finds by a part of their names. */
import { useQuery } from "@tanstack/react-query";
import { Bot, type LucideIcon, Route, Workflow } from "lucide-react";
import { answer } from "../../programs/client/client.ts";
import { svc } from "./session/api.ts";
import { useCan } from "./session/session.ts";

export interface Found {
  readonly kind: "Agent" | "Workflow" | "Source";
  readonly name: string;
  readonly path: string;
  readonly icon: LucideIcon;
}

/** Of each kind. */
const most = 8;
const shortest = 2;

/** @param text as it is typed, settled; what the caller may not list and open is not asked for */
export function useFound(text: string): readonly Found[] {
  const can = useCan();
  const isAsked = text.length >= shortest;
  const agents = useQuery({
    queryKey: ["agent", "list", "found", text],
    queryFn: async () => {
      const query = { q: text, visible: true, limit: most } as never;
      const { agents: items } = await answer(svc.GET("/v1/agents", { params: { query } }));
      return items.map(({ id, name }): Found => ({ kind: "Agent", name, path: `/agents/${id}`, icon: Bot }));
    },
    enabled: isAsked && can("agent:list") && can("agent:read"),
  });
  const workflows = useQuery({
    queryKey: ["workflow", "list", "found", text],
    queryFn: async () => {
      const query = { q: text, visible: true, limit: most };
      const { workflows: items } = await answer(svc.GET("/v1/workflows", { params: { query } }));
      return items.map(({ name }): Found => ({ kind: "Workflow", name, path: `/workflows/${name}`, icon: Workflow }));
    },
    enabled: isAsked && can("workflow:list") && can("workflow:read"),
  });
  // There are few of them, and their list is not searched.
  const sources = useQuery({
    queryKey: ["source", "list", "found"],
    queryFn: async () => {
      const { items } = await answer(svc.GET("/v1/stimulus-routes", { params: { query: { limit: 200 } } }));
      return items.map(
        ({ id, source }): Found => ({ kind: "Source", name: source, path: `/sources/${id}`, icon: Route }),
      );
    },
    enabled: isAsked && can("stimulus:list") && can("stimulus:read"),
  });
  if (!isAsked) return [];
  const named = (sources.data ?? []).filter(({ name }) => name.includes(text.toLowerCase())).slice(0, most);
  return [...(agents.data ?? []), ...(workflows.data ?? []), ...named];
}
