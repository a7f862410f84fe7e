/** The groups there are, to choose one. */
import { useQuery } from "@tanstack/react-query";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";

export const useGroups = () =>
  useQuery({
    queryKey: ["host", "list", "groups"],
    queryFn: () => answer(svc.GET("/v1/edge/groups", { params: { query: { limit: 500 } } })),
  });
