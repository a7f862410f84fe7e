/** One security context: its rules to read, a call to try against them, and the text to change. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Checkbox } from "../../kit/controls/field.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { TextLink } from "../../kit/controls/link.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Loading, Page, Trouble } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { ContextEditor } from "./editor.tsx";
import { Evaluator } from "./evaluator.tsx";
import { contextQuery } from "./query.ts";
import { Rules } from "./rules.tsx";
import { type Context, isSystem } from "./words.ts";

export function ContextPage() {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const context = useQuery(contextQuery(name));
  if (context.data === undefined)
    return (
      <Page title={name} about={<TextLink to="/security-contexts">Security contexts</TextLink>}>
        {context.error === null ? (
          <Loading lines={8} />
        ) : (
          <Trouble error={context.error} retry={() => void context.refetch()} />
        )}
      </Page>
    );
  return <Shown key={context.data.name} context={context.data} />;
}

function Shown({ context }: { readonly context: Context }) {
  const can = useCan();
  const { operator } = useMe();
  const [{ tab = "rules" }, change] = useFilters();
  const { name, metadata, description } = context;
  const mayWrite = can("security_context:write") && (!isSystem(context) || operator);
  // What the service brings can be written anew, and not be deleted.
  const mayDelete = mayWrite && !isSystem(context);
  const tabs = [
    { id: "rules", label: "Rules", content: <Rules context={context} /> },
    { id: "try", label: "May this call?", content: <Evaluator context={context} /> },
    ...(mayWrite
      ? [{ id: "edit", label: "Edit", content: <ContextEditor key={metadata.version} context={context} /> }]
      : []),
  ];
  return (
    <Page
      title={name}
      beside={
        <>
          {isSystem(context) && <Badge tone="violet">system</Badge>}
          <Badge>version {metadata.version}</Badge>
        </>
      }
      about={
        <>
          <TextLink to="/security-contexts">Security contexts</TextLink>
          {metadata.updated_at === null ? (
            <span>brought by the service</span>
          ) : (
            <span>
              changed <Ago at={metadata.updated_at} />
            </span>
          )}
          {metadata.updated_by !== null && (
            <span className="flex items-center gap-1">
              by <Copyable value={metadata.updated_by} short />
            </span>
          )}
        </>
      }
      actions={mayDelete && <Remove name={name} />}
    >
      {description !== null && description !== "" && (
        <p dir="auto" className="m-0 max-w-prose whitespace-pre-wrap break-words">
          {inert(description)}
        </p>
      )}
      <Tabs
        tabs={tabs}
        chosen={tabs.some(({ id }) => id === tab) ? tab : "rules"}
        onChoose={(id) => change({ tab: id === "rules" ? "" : id, tool: "" })}
      />
    </Page>
  );
}

function Remove({ name }: { readonly name: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsked, ask] = useState(false);
  const [isInUse, setInUse] = useState(false);
  const [force, setForce] = useState(false);
  const close = () => {
    ask(false);
    setInUse(false);
    setForce(false);
  };
  return (
    <>
      <Button look="danger" onClick={() => ask(true)}>
        <Trash2 aria-hidden />
        Delete
      </Button>
      <Confirm
        open={isAsked}
        onClose={close}
        danger
        title={`Delete ${name}?`}
        about="Every call that it binds is refused from then on, in running executions too. This cannot be undone."
        verb="Delete the context"
        typed={name}
        onConfirm={async () => {
          try {
            const params = { path: { name }, query: force ? { force } : {} };
            await answer(svc.DELETE("/v1/security-contexts/{name}", { params }));
          } catch (error) {
            if (error instanceof ApiError && error.code === "context_in_use") setInUse(true);
            throw error;
          }
          tell(`${name} is deleted`);
          await navigate({ to: "/security-contexts" as never });
          queries.removeQueries({ queryKey: ["security_context", "one", name] });
          await queries.invalidateQueries({ queryKey: ["security_context"] });
        }}
      >
        {isInUse && <Checkbox checked={force} onChange={setForce} label="Delete it although deployed agents name it" />}
      </Confirm>
    </>
  );
}
