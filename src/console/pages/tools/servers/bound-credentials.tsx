/** Which values a server gets, and where they come from. The values themselves are never shown. */
import { useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan, useMe } from "../../../app/session/session.ts";
import { Button, IconButton } from "../../../kit/controls/button.tsx";
import { Input, Select } from "../../../kit/controls/field.tsx";
import { inert } from "../../../kit/values/text.tsx";
import type { Bound, SourceKind } from "./draft.ts";

interface BoundProps {
  readonly bound: readonly Bound[];
  readonly onChange: (bound: readonly Bound[]) => void;
  /** Variables of a program, else headers of requests. */
  readonly isProgram: boolean;
  readonly error: string | null;
}

const secretPaths = "secret-paths";

export function BoundCredentials({ bound, onChange, isProgram, error }: BoundProps) {
  const can = useCan();
  const { operator } = useMe();
  const hasSecrets = can("secret:list");
  const hasCredentials = can("credential:list");
  const secrets = useQuery({
    queryKey: ["secret", "list", "paths"],
    queryFn: () => answer(svc.GET("/v1/secrets", { params: { query: { limit: 200 } } })),
    enabled: hasSecrets && bound.length > 0,
  });
  const credentials = useQuery({
    queryKey: ["credential", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/credentials", { params: { query: { limit: 200 } as never } })),
    enabled: hasCredentials && bound.some(({ kind }) => kind === "credential"),
  });
  const set = (key: string, change: Partial<Bound>) =>
    onChange(bound.map((one) => (one.key === key ? { ...one, ...change } : one)));
  const kinds: readonly { readonly value: SourceKind; readonly label: string }[] = [
    { value: "secret", label: "a secret" },
    { value: "credential", label: "a credential" },
    ...(operator || bound.some(({ kind }) => kind === "env")
      ? [{ value: "env" as const, label: "the service's environment" }]
      : []),
  ];
  const connected =
    credentials.data?.items.map(({ id, provider, label }) => ({
      value: id,
      label: inert(label ? `${provider}: ${label}` : provider),
    })) ?? [];
  return (
    <div className="flex flex-col gap-3">
      <p className="m-0 text-ink-soft text-xs">
        {isProgram ? "Variables of its environment" : "Headers of requests to it"}, whose values are looked up when it
        is begun. They are hidden in what it answers and writes.
      </p>
      {bound.map((one, place) => (
        <div key={one.key} className="flex flex-wrap items-end gap-2">
          <Input
            label={isProgram ? "Variable" : "Header"}
            quiet={place > 0}
            className="min-w-32 flex-1"
            value={one.name}
            mono
            placeholder={isProgram ? "TICKETS_TOKEN" : "Authorization"}
            onChange={(name) => set(one.key, { name })}
          />
          <Select
            label="From"
            quiet={place > 0}
            className="w-36"
            value={one.kind}
            choices={kinds}
            onChange={(kind) => set(one.key, { kind: kind as SourceKind, from: "" })}
          />
          {one.kind === "credential" && connected.length > 0 ? (
            <Select
              label="Which"
              quiet={place > 0}
              className="min-w-40 flex-1"
              value={one.from}
              choices={connected}
              onChange={(from) => set(one.key, { from })}
            />
          ) : (
            <Input
              label="Which"
              quiet={place > 0}
              className="min-w-40 flex-1"
              value={one.from}
              mono
              placeholder={{ secret: "ops/tickets#token", credential: "its id", env: "VARIABLE" }[one.kind]}
              onChange={(from) => set(one.key, { from })}
              {...(one.kind === "secret" ? { list: secretPaths } : {})}
            />
          )}
          <IconButton label={`Remove ${one.name}`} onClick={() => onChange(bound.filter(({ key }) => key !== one.key))}>
            <Trash2 aria-hidden />
          </IconButton>
        </div>
      ))}
      <datalist id={secretPaths}>
        {secrets.data?.items.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {error !== null && (
        <p role="alert" className="m-0 text-bad text-xs">
          {error}
        </p>
      )}
      <Button
        small
        className="self-start"
        onClick={() => onChange([...bound, { key: crypto.randomUUID(), name: "", kind: "secret", from: "" }])}
      >
        <Plus aria-hidden />
        {isProgram ? "Add a variable" : "Add a header"}
      </Button>
    </div>
  );
}
