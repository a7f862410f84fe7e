/** Chooses the agent whose executions are shown. */
import { useQuery } from "@tanstack/react-query";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { ChoiceFilter, useFilters } from "../../kit/controls/filters.tsx";

export function AgentFilter() {
  const can = useCan();
  const [{ agent }] = useFilters();
  const agents = useQuery({
    queryKey: ["agent", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/agents", { params: { query: { limit: 100 } } })),
    enabled: can("agent:list"),
    select: ({ items }) => items.map(({ id, name }) => ({ value: id, label: name })),
  });
  const choices = agents.data ?? [];
  if (choices.length === 0 && agent === undefined) return null;
  const known = choices.some(({ value }) => value === agent);
  return (
    <ChoiceFilter
      name="agent"
      label="Agent"
      choices={agent === undefined || known ? choices : [{ value: agent, label: agent.slice(0, 8) }, ...choices]}
      single
    />
  );
}
