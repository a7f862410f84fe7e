/** Checks of every part that the service stands on, with what to do about each that is not well. */
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, RefreshCw, TriangleAlert } from "lucide-react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Button } from "../../kit/controls/button.tsx";
import { classes } from "../../kit/controls/classes.ts";
import { Loading, Page, Trouble } from "../../kit/page.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Check = Schemas["DoctorCheck"];

const signs = { ok: CircleCheck, warn: TriangleAlert, fail: CircleAlert } as const;
const colours = { ok: "text-good", warn: "text-warn", fail: "text-bad" } as const;
const order = { fail: 0, warn: 1, ok: 2 } as const;

export function Doctor() {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["doctor"],
    queryFn: () => answer(svc.GET("/v1/admin/doctor")),
  });
  const checks = data?.checks.toSorted((one, other) => order[one.status] - order[other.status]);
  return (
    <Page
      title="Doctor"
      about={
        data === undefined ? (
          "Looks at the stores, the clock, the sandbox, models and issuers."
        ) : (
          <>
            looked <Ago at={data.at} />
          </>
        )
      }
      actions={
        <Button busy={isFetching} onClick={() => void refetch()}>
          <RefreshCw aria-hidden />
          Look again
        </Button>
      }
      wide={false}
    >
      {checks === undefined ? (
        error === null ? (
          <Loading lines={6} />
        ) : (
          <Trouble error={error} retry={() => void refetch()} />
        )
      ) : (
        <ul className="m-0 flex list-none flex-col divide-y divide-line overflow-hidden rounded-panel border border-line bg-surface p-0">
          {checks.map((check) => (
            <Line key={check.name} check={check} />
          ))}
        </ul>
      )}
    </Page>
  );
}

function Line({ check: { name, status, message, remedy } }: { readonly check: Check }) {
  const Sign = signs[status];
  return (
    <li className="flex gap-3 px-4 py-3">
      <Sign aria-label={status} className={classes("mt-0.5 size-4 shrink-0", colours[status])} />
      <div className="min-w-0">
        <p className="m-0 font-medium">{inert(name.replaceAll("_", " "))}</p>
        <p className="m-0 break-words text-ink-soft">{inert(message)}</p>
        {remedy !== null && <p className="mt-1 mb-0 break-words">{inert(remedy)}</p>}
      </div>
    </li>
  );
}
