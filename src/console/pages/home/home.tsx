/** What needs the caller, what runs now, how the last day went; on a fresh service, something to begin with. */
import { useQuery } from "@tanstack/react-query";
import { Cpu } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Page } from "../../kit/page.tsx";
import { LastDay } from "./last-day.tsx";
import { Needs } from "./needs.tsx";
import { Nodes } from "./nodes.tsx";
import { Running } from "./running.tsx";
import { Samples } from "./samples.tsx";

const ConnectModel = lazy(() => import("./connect-model.tsx").then(({ ConnectModel }) => ({ default: ConnectModel })));

export function Home() {
  const can = useCan();
  const any = useQuery({
    queryKey: ["execution", "list", "home-any"],
    queryFn: () => answer(svc.GET("/v1/executions", { params: { query: { limit: 5 } } })),
    enabled: can("execution:list"),
  });
  const isFresh = any.data !== undefined && any.data.items.length < 5;
  return (
    <Page title="Home">
      <ScriptedOnly />
      {isFresh && <Samples open />}
      <Needs />
      <LastDay />
      <div className="grid min-w-0 grid-cols-1 items-start gap-4 xl:grid-cols-[2fr_1fr]">
        <Running />
        <Nodes />
      </div>
      {any.data !== undefined && !isFresh && <Samples open={false} />}
    </Page>
  );
}

/** Says that no real model is connected, where that is so and the caller can change it. */
function ScriptedOnly() {
  const { operator, role } = useMe();
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  const maySee = operator && can("node:read");
  const doctor = useQuery({
    queryKey: ["doctor"],
    queryFn: () => answer(svc.GET("/v1/admin/doctor")),
    enabled: maySee,
    staleTime: 300_000,
  });
  const models = doctor.data?.checks.find(({ name }) => name === "models");
  const isConnected = models === undefined || models.status === "ok";
  if (role === "readonly" || (isConnected && !isOpen)) return null;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-panel border border-info/30 bg-info-soft px-4 py-2.5"
    >
      <Cpu aria-hidden className="size-4 shrink-0 text-info" />
      <p className="m-0 min-w-0 flex-1">
        <span className="font-medium">No language model is connected.</span>{" "}
        <span className="text-ink-soft">
          Agents follow the script in their manifests until one is. The samples work without.
        </span>
      </p>
      <Button small onClick={() => setOpen(true)}>
        Connect a model
      </Button>
      {isOpen && (
        <Suspense>
          <ConnectModel onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}
