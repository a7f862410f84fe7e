/** Secrets by their paths: written and replaced here, never shown again. */
import { useQueryClient } from "@tanstack/react-query";
import { Lock, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { Input, TextArea } from "../../kit/controls/field.tsx";
import { FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Copyable } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Entry = Schemas["SecretEntry"];

const pathOf = (prefix: string, name: string): string => (name.startsWith(prefix) ? name : `${prefix}${name}`);

export function Secrets() {
  const can = useCan();
  const queries = useQueryClient();
  const [filters] = useFilters();
  const prefix = filters.prefix ?? "";
  const [written, write] = useState<{ readonly path: string; readonly replaces: boolean } | null>(null);
  const [removed, remove] = useState<string | null>(null);
  const list = useList(["secret", "list", prefix], (cursor) =>
    answer(
      svc.GET("/v1/secrets", {
        params: {
          query: {
            limit: 100,
            ...(cursor === undefined ? {} : { cursor }),
            ...(prefix === "" ? {} : { path_prefix: prefix }),
          },
        },
      }),
    ),
  );
  const renew = () => queries.invalidateQueries({ queryKey: ["secret"] });
  const columns: readonly Column<Entry>[] = [
    {
      id: "path",
      title: "Path",
      width: "minmax(14rem, 3fr)",
      cell: ({ name }) => <Copyable value={pathOf("", name)} />,
    },
    { id: "version", title: "Version", width: "6rem", right: true, cell: ({ version }) => version ?? "–" },
    {
      id: "changed",
      title: "Changed",
      width: "9rem",
      wide: true,
      cell: ({ last_modified }) => <Ago at={last_modified} />,
    },
    {
      id: "actions",
      title: "",
      width: "10rem",
      right: true,
      cell: ({ name }) => (
        <span className="inline-flex items-center gap-1">
          {can("secret:write") && (
            <Button small look="ghost" onClick={() => write({ path: name, replaces: true })}>
              Replace
            </Button>
          )}
          {can("secret:delete") && (
            <IconButton label={`Delete ${name}`} onClick={() => remove(name)}>
              <Trash2 aria-hidden />
            </IconButton>
          )}
        </span>
      ),
    },
  ];
  return (
    <Page
      title="Secrets"
      about="Values go in and are used by reference; the console never shows one again."
      actions={
        can("secret:write") && (
          <Button look="primary" onClick={() => write({ path: "", replaces: false })}>
            <Plus aria-hidden />
            New secret
          </Button>
        )
      }
    >
      <FilterBar names={["prefix"]}>
        <SearchFilter name="prefix" label="Paths that begin with …" />
      </FilterBar>
      <DataTable
        {...list}
        name="secrets"
        filters={["prefix"]}
        columns={columns}
        idOf={({ name }) => name}
        empty={
          <Empty icon={Lock} title="No secrets yet">
            Manifests refer to them as <code>secret:path/to/it</code>. From a terminal:
            <span className="mt-2 block">
              <Cli args="secrets create payments/api-key" />
            </span>
          </Empty>
        }
      />
      {written !== null && <WriteSecret {...written} onClose={() => write(null)} onDone={renew} />}
      <Confirm
        open={removed !== null}
        onClose={() => remove(null)}
        danger
        title="Delete this secret?"
        about={
          <>
            <code>{removed}</code> and all its versions are gone. What refers to it fails from now on.
          </>
        }
        verb="Delete"
        onConfirm={async () => {
          await svc.DELETE("/v1/secrets/{path}", { params: { path: { path: removed ?? "" } } });
          tell("Deleted", removed ?? "");
          await renew();
        }}
      />
    </Page>
  );
}

interface WriteProps {
  readonly path: string;
  readonly replaces: boolean;
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}

function WriteSecret({ path: given, replaces, onClose, onDone }: WriteProps) {
  const [path, setPath] = useState(given);
  const [value, setValue] = useState("");
  return (
    <FormDialog
      open
      onClose={onClose}
      title={replaces ? "Replace the value" : "New secret"}
      about={
        replaces
          ? "A new version is made; what refers to it takes the new value from now on."
          : "The value is encrypted and cannot be read back here."
      }
      verb={replaces ? "Replace" : "Create"}
      disabled={path.trim() === "" || value === ""}
      onSend={async () => {
        const { version } = await answer(
          svc.PUT("/v1/secrets/{path}", {
            params: { path: { path: path.trim() }, ...(replaces ? {} : { header: { "If-None-Match": "*" } }) },
            body: { value },
          }),
        );
        tell("Written", `${path.trim()}, version ${version}`);
        await onDone();
      }}
    >
      <Input
        label="Path"
        value={path}
        onChange={setPath}
        placeholder="payments/api-key"
        mono
        disabled={replaces}
        required
        autoFocus={!replaces}
      />
      <TextArea label="Value" value={value} onChange={setValue} rows={4} mono />
    </FormDialog>
  );
}
