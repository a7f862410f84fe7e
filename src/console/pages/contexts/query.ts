/** Reading one security context. */
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";

export const contextQuery = (name: string) => ({
  queryKey: ["security_context", "one", name],
  queryFn: () => answer(svc.GET("/v1/security-contexts/{name}", { params: { path: { name } } })),
});
