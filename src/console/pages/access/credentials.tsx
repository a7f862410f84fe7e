/** Credentials for services outside: connected by consent, or kept as a value. */
import { useQueryClient } from "@tanstack/react-query";
import { Link2, Plus } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { NewCredential } from "./new-credential.tsx";

type Credential = Schemas["Credential"];

const states = ["active", "pending_oauth", "expired", "revoked"] as const;
const words: Readonly<Record<string, string>> = { pending_oauth: "waits for consent" };

export const nameOf = ({ label, provider }: Pick<Credential, "label" | "provider">): string => inert(label ?? provider);

export function Credentials() {
  const can = useCan();
  const queries = useQueryClient();
  const [filters] = useFilters();
  const status = states.find((one) => one === filters.status);
  const { provider } = filters;
  const [isNew, make] = useState(false);
  const list = useList(["credential", "list", status, provider], (cursor) =>
    answer(
      svc.GET("/v1/credentials", {
        params: {
          query: {
            limit: 100,
            ...(cursor === undefined ? {} : { cursor }),
            ...(status === undefined ? {} : { status }),
            ...(provider === undefined ? {} : { provider }),
          },
        },
      }),
    ),
  );
  const columns: readonly Column<Credential>[] = [
    {
      id: "name",
      title: "Name",
      width: "minmax(10rem, 2fr)",
      cell: (one) => <bdi className="font-medium">{nameOf(one)}</bdi>,
    },
    { id: "provider", title: "Provider", cell: (one) => <bdi>{inert(one.provider)}</bdi> },
    {
      id: "status",
      title: "Status",
      width: "9rem",
      cell: (one) => <Status status={one.status} label={words[one.status] ?? one.status} />,
    },
    { id: "type", title: "Kind", wide: true, cell: (one) => <Badge>{one.credential_type.replaceAll("_", " ")}</Badge> },
    { id: "scope", title: "For", wide: true, width: "6rem", cell: (one) => one.scope },
    { id: "grants", title: "Grants", width: "5rem", right: true, cell: (one) => one.grants_count },
    { id: "used", title: "Last used", width: "7rem", wide: true, cell: (one) => <Ago at={one.last_used_at} /> },
    { id: "expires", title: "Expires", width: "7rem", extra: true, cell: (one) => <Ago at={one.expires_at} /> },
  ];
  return (
    <Page
      title="Credentials"
      about="Access to services outside. Agents and workflows get it by a grant, and never see the value."
      actions={
        can("credential:create") && (
          <Button look="primary" onClick={() => make(true)}>
            <Plus aria-hidden />
            Connect
          </Button>
        )
      }
    >
      <FilterBar names={["status", "provider"]}>
        <SearchFilter name="provider" label="Provider" />
        <ChoiceFilter
          name="status"
          label="Status"
          single
          choices={states.map((value) => ({ value, label: words[value] ?? value }))}
        />
      </FilterBar>
      <DataTable
        {...list}
        name="credentials"
        filters={["status", "provider"]}
        columns={columns}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/credentials/${id}`}
        empty={
          <Empty
            icon={Link2}
            title="Nothing is connected yet"
            actions={can("credential:create") && <Button onClick={() => make(true)}>Connect a service</Button>}
          >
            Connect a service once; then grant it to the agents and workflows that need it.
          </Empty>
        }
      />
      {isNew && (
        <NewCredential
          onClose={() => make(false)}
          onDone={() => queries.invalidateQueries({ queryKey: ["credential"] })}
        />
      )}
    </Page>
  );
}
