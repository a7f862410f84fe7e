/** The settings of a server of tools, to add one or to change it; what the service finds stands at the field. */
import type { Issue } from "../../../../programs/client/errors.ts";
import { useMe } from "../../../app/session/session.ts";
import { Input, Select, Switch, TextArea } from "../../../kit/controls/field.tsx";
import { Panel } from "../../../kit/page.tsx";
import type { Server } from "../words.ts";
import { BoundCredentials } from "./bound-credentials.tsx";
import { type Draft, foundAt, usualDefinitions } from "./draft.ts";

interface FormProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly isNew: boolean;
  readonly issues: readonly Issue[];
}

export function ServerForm({ draft, onChange, isNew, issues }: FormProps) {
  const { operator } = useMe();
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  const at = (field: string) => ({ error: foundAt(issues, field) });
  const isProgram = draft.transport === "stdio";
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title="What it is">
        <div className="flex flex-col gap-3">
          {isNew && (
            <Input
              label="Name"
              value={draft.name}
              onChange={(name) => set({ name })}
              required
              autoFocus
              placeholder="tickets"
              hint="Begins the names of its tools: tickets.search. It cannot be changed later."
              {...at("name")}
            />
          )}
          <Select
            label="Reached by"
            value={draft.transport}
            disabled={!operator}
            hint={
              operator
                ? "A program runs in a sandbox of its own on each node; HTTP is a server that runs elsewhere."
                : "Servers that are programs of the host are defined by operators."
            }
            choices={[
              { value: "stdio", label: "A program (stdio)" },
              { value: "streamable_http", label: "HTTP (streamable HTTP)" },
            ]}
            onChange={(next) => {
              const transport = next as Server["transport"];
              set({ transport, definitions: usualDefinitions(transport) });
            }}
            {...at("transport")}
          />
          {isProgram ? (
            <Program {...{ draft, set, at }} />
          ) : (
            <Input
              label="URL"
              value={draft.url}
              onChange={(url) => set({ url })}
              required
              mono
              placeholder="https://tickets.example/mcp"
              hint="A public address; others have to be opened by egress.allow_private of the node."
              {...at("url")}
            />
          )}
          <Switch label="Enabled" checked={draft.enabled} onChange={(enabled) => set({ enabled })} />
          {isNew && operator && (
            <Switch label="For all tenants" checked={draft.allTenants} onChange={(allTenants) => set({ allTenants })} />
          )}
        </div>
      </Panel>
      <div className="flex min-w-0 flex-col gap-4">
        <Panel title="Credentials">
          <BoundCredentials
            bound={draft.credentials}
            onChange={(credentials) => set({ credentials })}
            isProgram={isProgram}
            {...at("credentials")}
          />
        </Panel>
        <Panel title="What is offered of it">
          <div className="flex flex-col gap-3">
            <Select
              label="When it changes a tool"
              value={draft.definitions}
              choices={[
                { value: "pinned", label: "Withhold the tool until a person accepts it" },
                { value: "follow", label: "Offer it as it is" },
              ]}
              onChange={(definitions) => set({ definitions: definitions as Server["definitions"] })}
              {...at("definitions")}
            />
            <TextArea
              label="Only these tools"
              rows={3}
              mono
              value={draft.offered}
              onChange={(offered) => set({ offered })}
              placeholder={"search\ncreate"}
              hint="One a line, as the server names them. Empty: all."
              {...at("capabilities")}
            />
            {draft.offered.trim() !== "" && (
              <TextArea
                label="Of these without a tool judge"
                rows={2}
                mono
                value={draft.unjudged}
                onChange={(unjudged) => set({ unjudged })}
                hint="One a line: no judge of an agent is asked about their calls."
              />
            )}
          </div>
        </Panel>
        <Limits {...{ draft, set, at, isProgram }} />
      </div>
    </div>
  );
}

interface PartProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly at: (field: string) => { readonly error: string | null };
}

function Program({ draft, set, at }: PartProps) {
  return (
    <>
      <Input
        label="Executable"
        value={draft.executable}
        onChange={(executable) => set({ executable })}
        required
        mono
        placeholder="/opt/tools/tickets-mcp"
        hint="A name that PATH finds, or an absolute path of the host."
        {...at("executable")}
      />
      <TextArea
        label="Arguments"
        rows={3}
        mono
        value={draft.args}
        onChange={(args) => set({ args })}
        hint="One a line, as they are: no shell reads them."
        {...at("args")}
      />
      <TextArea
        label="Environment"
        rows={3}
        mono
        value={draft.environment}
        onChange={(environment) => set({ environment })}
        placeholder="MODE=readonly"
        hint="NAME=value, one a line. Values that are secret belong under “Credentials”."
        {...at("environment")}
      />
      <TextArea
        label="Hosts that it may reach"
        rows={2}
        mono
        value={draft.egress}
        onChange={(egress) => set({ egress })}
        placeholder="api.tickets.example:443"
        hint="One a line, through the egress proxy. Empty: no network at all."
        {...at("egress")}
      />
    </>
  );
}

function Limits({ draft, set, at, isProgram }: PartProps & { readonly isProgram: boolean }) {
  return (
    <Panel title="Limits">
      <div className="grid gap-3 sm:grid-cols-2">
        <Input
          label="A call may take, s"
          type="number"
          value={draft.callTimeout}
          onChange={(callTimeout) => set({ callTimeout })}
          {...at("call_timeout_seconds")}
        />
        <Input
          label="Calls at once on each node"
          type="number"
          value={draft.maxConcurrent}
          onChange={(maxConcurrent) => set({ maxConcurrent })}
          {...at("max_concurrent")}
        />
        <Input
          label="Is checked every, s"
          type="number"
          value={draft.checkEvery}
          onChange={(checkEvery) => set({ checkEvery })}
          {...at("health_check.interval_seconds")}
        />
        <Input
          label="A check may take, s"
          type="number"
          value={draft.checkFor}
          onChange={(checkFor) => set({ checkFor })}
          {...at("health_check.timeout_seconds")}
        />
        {isProgram && (
          <>
            <Input
              label="CPU, thousandths"
              type="number"
              value={draft.cpu}
              onChange={(cpu) => set({ cpu })}
              {...at("resource_limits.cpu_millicores")}
            />
            <Input
              label="Memory, MiB"
              type="number"
              value={draft.memory}
              onChange={(memory) => set({ memory })}
              {...at("resource_limits.memory_mb")}
            />
          </>
        )}
      </div>
    </Panel>
  );
}
