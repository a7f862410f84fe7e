/** The members of the tenant, their roles, and who is invited. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { MailPlus, Plus, UserMinus } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { Once } from "../../kit/dialogs/once.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Loading, Page, Trouble } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Member = Schemas["Member"];
type Invitation = Schemas["Invitation"];
type Role = Member["role"];

const roles: readonly { readonly value: Role; readonly label: string }[] = [
  { value: "member", label: "Member: uses what is there" },
  { value: "admin", label: "Admin: decides for the tenant" },
  { value: "owner", label: "Owner: hands the tenant over" },
];

export function TeamPage() {
  const can = useCan();
  const queries = useQueryClient();
  const [filters, change] = useFilters();
  const [isInviting, invite] = useState(false);
  const [isFounding, found] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const [removed, remove] = useState<Member | null>(null);
  const teams = useQuery({
    queryKey: ["team", "list"],
    queryFn: () => answer(svc.GET("/v1/teams", { params: { query: { limit: 100 } } })),
  });
  const renew = () => queries.invalidateQueries({ queryKey: ["member"] });
  const tab = filters.tab ?? "members";
  const write = can("colony:write");
  const me = useMe();
  return (
    <Page
      title="Team"
      about="Who works in this tenant, and what each may do."
      actions={
        write && (
          <>
            {/* Those of other realms have the tenant of their realm. */}
            {me.kind === "consumer" && (
              <Button onClick={() => found(true)}>
                <Plus aria-hidden />
                New team
              </Button>
            )}
            <Button look="primary" onClick={() => invite(true)}>
              <MailPlus aria-hidden />
              Invite
            </Button>
          </>
        )
      }
    >
      <Tabs
        chosen={tab}
        onChoose={(next) => change({ tab: next })}
        tabs={[
          { id: "members", label: "Members", content: <Members remove={remove} renew={renew} /> },
          { id: "invitations", label: "Invitations", content: <Invitations renew={renew} /> },
          { id: "teams", label: "Teams", content: <Teams teams={teams.data?.items} error={teams.error} /> },
        ]}
      />
      {isInviting && <Invite onClose={() => invite(false)} onDone={renew} onToken={setToken} />}
      {isFounding && (
        <NewTeam onClose={() => found(false)} onDone={() => queries.invalidateQueries({ queryKey: ["team"] })} />
      )}
      <Once
        title="The invitation"
        value={token}
        about="It was sent by mail where a mail server is configured. Otherwise hand this link over; it is shown once."
        onClose={() => setToken(null)}
      />
      <Confirm
        open={removed !== null}
        onClose={() => remove(null)}
        danger
        title={`Remove ${inert(removed?.name ?? removed?.email ?? "")}?`}
        about="Their sessions, streams and keys in this tenant end within seconds. What they made stays."
        verb="Remove"
        onConfirm={async () => {
          await svc.DELETE("/v1/colony/members/{id}", { params: { path: { id: removed?.id ?? "" } } });
          tell("Removed");
          await renew();
        }}
      />
    </Page>
  );
}

function Members({
  remove,
  renew,
}: {
  readonly remove: (member: Member) => void;
  readonly renew: () => Promise<unknown>;
}) {
  const can = useCan();
  const me = useMe();
  const list = useList(["member", "list"], (cursor) =>
    answer(
      svc.GET("/v1/colony/members", { params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } } }),
    ),
  );
  const write = can("colony:write");
  const setRole = async (member: Member, role: Role) => {
    try {
      await answer(svc.PATCH("/v1/colony/members/{id}", { params: { path: { id: member.id } }, body: { role } }));
      tell("Role changed", `${member.email}: ${role}`);
    } catch (error) {
      tellError("The role stays as it was", error);
    }
    await renew();
  };
  const columns: readonly Column<Member>[] = [
    {
      id: "who",
      title: "Who",
      width: "minmax(12rem, 2fr)",
      cell: (member) => (
        <span className="flex items-baseline gap-2">
          <bdi className="truncate font-medium">
            {inert((member.name ?? member.email) || `user ${member.user_id?.slice(0, 8) ?? ""}`)}
          </bdi>
          {member.name !== null && <bdi className="truncate text-ink-soft text-xs">{inert(member.email)}</bdi>}
          {member.user_id === me.user_id && <Badge tone="info">you</Badge>}
        </span>
      ),
    },
    {
      id: "role",
      title: "Role",
      width: "14rem",
      cell: (member) =>
        write && member.status === "active" && member.user_id !== me.user_id ? (
          <Select
            quiet
            label={`Role of ${member.email}`}
            value={member.role}
            choices={roles}
            onChange={(role) => void setRole(member, role as Role)}
          />
        ) : (
          member.role
        ),
    },
    { id: "status", title: "Status", width: "7rem", cell: ({ status }) => <Status status={status} /> },
    {
      id: "joined",
      title: "Joined",
      width: "8rem",
      wide: true,
      cell: ({ joined_at, invited_at }) => <Ago at={joined_at ?? invited_at} />,
    },
    {
      id: "actions",
      title: "",
      width: "3rem",
      right: true,
      cell: (member) =>
        (write || member.user_id === me.user_id) &&
        member.status !== "revoked" && (
          <IconButton
            label={member.user_id === me.user_id ? "Leave" : `Remove ${member.email}`}
            onClick={() => remove(member)}
          >
            <UserMinus aria-hidden />
          </IconButton>
        ),
    },
  ];
  return (
    <DataTable
      {...list}
      name="members"
      columns={columns}
      idOf={({ id }) => id}
      empty={
        <Empty title="You are alone here">
          <p className="mt-0 mb-2">Invite those who work with you. From a terminal:</p>
          <Cli args="members invite ada@example.org --role admin" />
        </Empty>
      }
    />
  );
}

function Invitations({ renew }: { readonly renew: () => Promise<unknown> }) {
  const can = useCan();
  const list = useList(["member", "list", "invitations"], (cursor) =>
    answer(
      svc.GET("/v1/colony/invitations", {
        params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const withdraw = (id: string) =>
    svc
      .DELETE("/v1/colony/invitations/{id}", { params: { path: { id } } })
      .then(renew, (error: unknown) => tellError("The invitation stays", error));
  const columns: readonly Column<Invitation>[] = [
    {
      id: "who",
      title: "Who",
      width: "minmax(12rem, 2fr)",
      cell: ({ invitee_email }) => <bdi>{inert(invitee_email)}</bdi>,
    },
    { id: "role", title: "Role", width: "7rem", cell: ({ role }) => role },
    { id: "status", title: "Status", width: "8rem", cell: ({ status }) => <Status status={status} /> },
    { id: "sent", title: "Sent", width: "8rem", wide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    { id: "expires", title: "Expires", width: "8rem", wide: true, cell: ({ expires_at }) => <Ago at={expires_at} /> },
    {
      id: "actions",
      title: "",
      width: "7rem",
      right: true,
      cell: ({ id, status }) =>
        status === "pending" &&
        can("colony:write") && (
          <Button small look="ghost" onClick={() => void withdraw(id)}>
            Withdraw
          </Button>
        ),
    },
  ];
  return (
    <DataTable
      {...list}
      name="invitations"
      columns={columns}
      idOf={({ id }) => id}
      empty={
        <Empty icon={MailPlus} title="No invitations">
          <p className="mt-0 mb-2">Each that was sent stands here until it is taken. From a terminal:</p>
          <Cli args="members invite ada@example.org" />
        </Empty>
      }
    />
  );
}

function Teams({ teams, error }: { readonly teams: readonly Schemas["Team"][] | undefined; readonly error: unknown }) {
  if (error != null) return <Trouble error={error} />;
  if (teams === undefined) return <Loading />;
  if (teams.length === 0)
    return (
      <Empty title="You belong to no team">A team has a tenant of its own, with its own agents, limits and bill.</Empty>
    );
  return (
    <ul className="m-0 grid list-none gap-3 p-0 sm:grid-cols-2 xl:grid-cols-3">
      {teams.map((team) => (
        <li key={team.id} className="rounded-panel border border-line bg-surface p-4">
          <div className="flex items-center gap-2">
            <bdi className="truncate font-medium">{inert(team.display_name)}</bdi>
            <Badge tone="info">{team.tier}</Badge>
            {team.status !== "active" && <Status status={team.status} />}
          </div>
          <p className="mt-1 mb-0 text-ink-soft text-xs">
            {team.slug} · {team.member_count} members · you are {team.role ?? "no member"}
          </p>
        </li>
      ))}
    </ul>
  );
}

interface DoneProps {
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}

function Invite({ onClose, onDone, onToken }: DoneProps & { readonly onToken: (link: string) => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("member");
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Invite a person"
      verb="Invite"
      disabled={!email.includes("@")}
      onSend={async () => {
        const made = await answer(
          svc.POST("/v1/colony/members", {
            params: {},
            body: { email: email.trim(), role: role as "admin" | "member" },
          }),
        );
        onToken(made.accept_url);
        await onDone();
      }}
    >
      <Input label="E-mail" type="email" value={email} onChange={setEmail} required autoFocus />
      <Select label="Role" value={role} choices={roles.filter(({ value }) => value !== "owner")} onChange={setRole} />
    </FormDialog>
  );
}

function NewTeam({ onClose, onDone }: DoneProps) {
  const [name, setName] = useState("");
  return (
    <FormDialog
      open
      onClose={onClose}
      title="New team"
      about="A team is a tenant of its own; you become its owner."
      verb="Create"
      disabled={name.trim() === ""}
      onSend={async () => {
        await answer(svc.POST("/v1/teams", { params: {}, body: { display_name: name.trim() } }));
        tell("Created", name.trim());
        await onDone();
      }}
    >
      <Input label="Name" value={name} onChange={setName} required autoFocus />
    </FormDialog>
  );
}
