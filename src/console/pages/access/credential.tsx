/** One credential: what it is for, and who may use it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Plus, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { Input, Select, TextArea } from "../../kit/controls/field.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { Empty, Facts, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { nameOf } from "./credentials.tsx";

type Grant = Schemas["CredentialGrant"];

export function CredentialPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const can = useCan();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isGranting, grant] = useState(false);
  const [isRotating, rotate] = useState(false);
  const [isRevoking, revoke] = useState(false);
  const path = { id };
  const query = useQuery({
    queryKey: ["credential", "one", id],
    queryFn: () => answer(svc.GET("/v1/credentials/{id}", { params: { path } })),
  });
  const grants = useQuery({
    queryKey: ["credential", "one", id, "grants"],
    queryFn: () => answer(svc.GET("/v1/credentials/{id}/grants", { params: { path } })),
  });
  const renew = () => queries.invalidateQueries({ queryKey: ["credential"] });
  const one = query.data;
  if (query.error !== null && one === undefined)
    return (
      <Page title="Credential">
        <Trouble error={query.error} retry={() => void query.refetch()} />
      </Page>
    );
  if (one === undefined)
    return (
      <Page title="Credential">
        <Loading />
      </Page>
    );
  const withdraw = (grantId: string) =>
    svc
      .DELETE("/v1/credentials/{id}/grants/{grant_id}", { params: { path: { id, grant_id: grantId } } })
      .then(renew, (error: unknown) => tellError("The grant stays", error));
  return (
    <Page
      title={nameOf(one)}
      beside={<Status status={one.status} />}
      about={
        <>
          <Copyable value={one.id} />
          <span>
            connected <Ago at={one.created_at} />
          </span>
        </>
      }
      actions={
        one.status !== "revoked" && (
          <>
            {can("credential:rotate") && one.credential_type !== "oauth2" && (
              <Button onClick={() => rotate(true)}>
                <RefreshCw aria-hidden />
                Rotate
              </Button>
            )}
            {can("credential:delete") && (
              <Button look="danger" onClick={() => revoke(true)}>
                Revoke
              </Button>
            )}
          </>
        )
      }
    >
      <Panel title="About">
        <Facts
          columns={2}
          of={[
            ["Provider", <bdi key="provider">{inert(one.provider)}</bdi>],
            ["Kind", one.credential_type.replaceAll("_", " ")],
            ["For", one.scope === "tenant" ? "the whole tenant" : "its owner"],
            ["Owner", <Copyable key="owner" value={one.owner_user_id} />],
            ["Version", one.version],
            ["Last used", <Ago key="used" at={one.last_used_at} />],
            ["Expires", <Ago key="expires" at={one.expires_at} />],
            [
              "Scopes",
              one.scopes.length === 0 ? null : one.scopes.map((scope) => <Badge key={scope}>{inert(scope)}</Badge>),
            ],
          ]}
        />
        {Object.keys(one.metadata).length > 0 && (
          <div className="mt-3">
            <Value value={one.metadata} />
          </div>
        )}
      </Panel>
      <Panel
        title="Who may use it"
        actions={
          can("credential:grant") &&
          one.status !== "revoked" && (
            <Button small onClick={() => grant(true)}>
              <Plus aria-hidden />
              Grant
            </Button>
          )
        }
      >
        {grants.data === undefined ? (
          <Loading lines={2} />
        ) : grants.data.items.length === 0 ? (
          <Empty title="No agent and no workflow may use it">Grant it to the ones that need it.</Empty>
        ) : (
          <ul className="m-0 flex list-none flex-col divide-y divide-line p-0">
            {grants.data.items.map((given) => (
              <li key={given.id} className="flex items-center gap-3 py-2">
                <span className="min-w-0 flex-1 truncate">
                  <Target target={given.target} />
                </span>
                <span className="text-ink-soft text-xs">
                  since <Ago at={given.created_at} />
                </span>
                {given.expires_at !== null && (
                  <span className="text-ink-soft text-xs">
                    ends <Ago at={given.expires_at} />
                  </span>
                )}
                {can("credential:grant") && (
                  <IconButton label="Withdraw" onClick={() => void withdraw(given.grant_id)}>
                    <Trash2 aria-hidden />
                  </IconButton>
                )}
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {isGranting && <NewGrant id={id} onClose={() => grant(false)} onDone={renew} />}
      {isRotating && <Rotate id={id} onClose={() => rotate(false)} onDone={renew} />}
      <Confirm
        open={isRevoking}
        onClose={() => revoke(false)}
        danger
        title={`Revoke ${nameOf(one)}?`}
        about="Its value is destroyed and its grants end. What uses it fails from now on."
        verb="Revoke"
        onConfirm={async () => {
          await svc.DELETE("/v1/credentials/{id}", { params: { path } });
          await renew();
          await navigate({ to: "/credentials" });
        }}
      />
    </Page>
  );
}

/** Whom it is granted to, by name where the caller may read it. */
function Target({ target }: Pick<Grant, "target">) {
  const can = useCan();
  const id = target.value ?? "";
  const isAgent = target.type === "agent";
  const agent = useQuery({
    queryKey: ["agent", "one", id],
    queryFn: () => answer(svc.GET("/v1/agents/{id}", { params: { path: { id } } })),
    enabled: isAgent && can("agent:read"),
    retry: false,
  });
  if (target.type === "all_agents") return "every agent";
  const link = "text-accent hover:underline";
  return (
    <>
      <span className="text-ink-soft">{target.type}</span>{" "}
      {isAgent ? (
        <Link to="/agents/$id" params={{ id }} className={link}>
          {inert(agent.data?.name ?? id)}
        </Link>
      ) : (
        <Link to="/workflows/$ref" params={{ ref: id } as never} className={link}>
          {inert(id)}
        </Link>
      )}
    </>
  );
}

interface Props {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}

const targets = [
  { value: "agent", label: "An agent" },
  { value: "workflow", label: "A workflow" },
  { value: "all_agents", label: "Every agent" },
];

function NewGrant({ id, onClose, onDone }: Props) {
  const [type, setType] = useState("agent");
  const [value, setValue] = useState("");
  const agents = useQuery({
    queryKey: ["agent", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/agents", { params: { query: { limit: 200 } } })),
    enabled: type === "agent",
  });
  const choices = agents.data?.items.map((agent) => ({ value: agent.agent_id, label: inert(agent.name) })) ?? [];
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Grant the use"
      verb="Grant"
      disabled={type !== "all_agents" && value.trim() === ""}
      onSend={async () => {
        const target_type = type as "agent" | "workflow" | "all_agents";
        const body = { target_type, ...(type === "all_agents" ? {} : { target_value: value.trim() }) };
        await answer(svc.POST("/v1/credentials/{id}/grants", { params: { path: { id } }, body }));
        tell("Granted");
        await onDone();
      }}
    >
      <Select
        label="To"
        value={type}
        choices={targets}
        onChange={(next) => {
          setType(next);
          setValue("");
        }}
      />
      {type === "agent" && choices.length > 0 && (
        <Select label="Agent" value={value} choices={choices} onChange={setValue} />
      )}
      {type === "agent" && choices.length === 0 && <Input label="Agent id" value={value} onChange={setValue} mono />}
      {type === "workflow" && <Input label="Workflow's name" value={value} onChange={setValue} />}
    </FormDialog>
  );
}

function Rotate({ id, onClose, onDone }: Props) {
  const [value, setValue] = useState("");
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Replace the value"
      about="What uses the credential takes the new value from now on."
      verb="Replace"
      disabled={value === ""}
      onSend={async () => {
        await answer(svc.POST("/v1/credentials/{id}/rotate", { params: { path: { id } }, body: { value } }));
        tell("Replaced");
        await onDone();
      }}
    >
      <TextArea label="New value" value={value} onChange={setValue} rows={3} mono />
    </FormDialog>
  );
}
