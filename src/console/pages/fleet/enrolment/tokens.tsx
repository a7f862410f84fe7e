/** Tokens that were made to let hosts in. */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, useFilters } from "../../../kit/controls/filters.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { Status } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { Tags } from "../tags.tsx";
import { AddHost } from "./add-host.tsx";

type Token = Schemas["EdgeEnrollmentToken"];
const statuses = ["outstanding", "redeemed", "expired", "revoked"] as const;

export function Tokens() {
  const queries = useQueryClient();
  const [{ status: wanted = "" }] = useFilters();
  const status = statuses.find((one) => one === wanted);
  const [revoked, revoke] = useState<Token | null>(null);
  const list = useList(["host", "list", "tokens", { status }], (cursor) =>
    answer(
      svc.GET("/v1/edge/enrollment-tokens", {
        params: {
          query: {
            limit: 100,
            ...(status === undefined ? {} : { status }),
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    ),
  );
  const columns: readonly Column<Token>[] = [
    {
      id: "name",
      title: "For",
      cell: ({ name }) => (name === null ? <span className="text-ink-faint">any name</span> : inert(name)),
    },
    { id: "status", title: "State", width: "8rem", cell: ({ status }) => <Status status={status} bare /> },
    { id: "tags", title: "Tags", wide: true, cell: ({ tags }) => <Tags of={tags} /> },
    {
      id: "host",
      title: "Host",
      wide: true,
      cell: ({ node_id: id }) =>
        id === null ? (
          "–"
        ) : (
          <Link to={`/fleet/hosts/${id}`} className="text-accent hover:underline">
            the host
          </Link>
        ),
    },
    { id: "by", title: "Made by", wide: true, cell: ({ issued_by }) => inert(issued_by) },
    { id: "made", title: "Made", width: "6rem", cell: ({ issued_at }) => <Ago at={issued_at} /> },
    {
      id: "ends",
      title: "Ends",
      width: "6rem",
      cell: ({ status, expires_at, redeemed_at, revoked_at }) => (
        <Ago at={status === "redeemed" ? redeemed_at : (revoked_at ?? expires_at)} />
      ),
    },
    {
      id: "revoke",
      title: "",
      width: "5.5rem",
      right: true,
      cell: (token) =>
        token.status === "outstanding" && (
          <Button small look="ghost" onClick={() => revoke(token)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <div className="flex flex-col gap-3">
      <FilterBar names={["status"]}>
        <ChoiceFilter name="status" label="State" single choices={statuses.map((value) => ({ value, label: value }))} />
      </FilterBar>
      <DataTable
        name="enrolment-tokens"
        filters={["status"]}
        columns={columns}
        {...list}
        idOf={({ id }) => id}
        empty={
          <Empty icon={KeyRound} title="No enrolment token" actions={<AddHost look="primary" />}>
            <p className="mt-0 mb-2">A token lets one machine in, within minutes. From a terminal:</p>
            <Cli args="edge token create" />
          </Empty>
        }
      />
      <Confirm
        open={revoked !== null}
        onClose={() => revoke(null)}
        title="Revoke this token?"
        about="Nothing can come in with it any more."
        verb="Revoke"
        danger
        onConfirm={async () => {
          if (revoked === null) return;
          await svc.DELETE("/v1/edge/enrollment-tokens/{id}", { params: { path: { id: revoked.id } } });
          await queries.invalidateQueries({ queryKey: ["host", "list", "tokens"] });
        }}
      />
    </div>
  );
}
