/** How many approvals wait for the caller: in the navigation, and before the tab's title. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { answer } from "../../programs/client/client.ts";
import { svc } from "./session/api.ts";
import { useCan } from "./session/session.ts";

export function useWaitingApprovals(): number {
  const can = useCan();
  const { data } = useQuery({
    queryKey: ["approval", "list", "waiting-count"],
    queryFn: () => answer(svc.GET("/v1/human-approvals", { params: { query: { limit: 100 } } })),
    enabled: can("approval:list"),
  });
  const count = data?.items.length ?? 0;
  useEffect(() => {
    const mark = () => {
      const plain = document.title.replace(/^\(\d+\+?\) /, "");
      const wanted = count === 0 ? plain : `(${count > 99 ? "99+" : count}) ${plain}`;
      if (document.title !== wanted) document.title = wanted;
    };
    mark();
    const title = document.querySelector("title");
    if (title === null) return;
    const watching = new MutationObserver(mark);
    watching.observe(title, { childList: true });
    return () => watching.disconnect();
  }, [count]);
  return count;
}
