/** Connecting a service: by its consent page, by a code on another device, or by a value. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input, Select, TextArea } from "../../kit/controls/field.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Copyable } from "../../kit/values/text.tsx";

type Way = "value" | "consent" | "device";
type Device = Schemas["DeviceConsent"] & { readonly provider: string };

const ways = [
  { value: "value", label: "An API key or token" },
  { value: "consent", label: "Consent in the browser (OAuth)" },
  { value: "device", label: "A code on another device (OAuth)" },
];

const kinds = [
  { value: "secret", label: "secret" },
  { value: "variable", label: "variable" },
  { value: "service_account", label: "service account" },
];

interface Props {
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}

export function NewCredential({ onClose, onDone }: Props) {
  const [way, setWay] = useState<Way>("value");
  const [provider, setProvider] = useState("");
  const [label, setLabel] = useState("");
  const [value, setValue] = useState("");
  const [kind, setKind] = useState("secret");
  const [scope, setScope] = useState("personal");
  const [scopes, setScopes] = useState("");
  const [device, setDevice] = useState<Device | null>(null);
  const named = { provider: provider.trim(), ...(label.trim() === "" ? {} : { label: label.trim() }) };
  const asked = scopes.split(/[\s,]+/).filter((one) => one !== "");
  const send = async () => {
    switch (way) {
      case "value": {
        const credential_type = kind as "secret" | "variable" | "service_account";
        await answer(
          svc.POST("/v1/credentials/api-key", { params: {}, body: { ...named, credential_type, scope, value } }),
        );
        tell("Connected", named.provider);
        await onDone();
        return;
      }
      case "consent": {
        const body = { ...named, ...(asked.length === 0 ? {} : { scopes: asked }) };
        const { authorization_url } = await answer(svc.POST("/v1/credentials/oauth/initiate", { params: {}, body }));
        window.open(authorization_url, "_blank", "noopener");
        tell("Finish in the new tab", "The credential becomes active when you have agreed there.");
        await onDone();
        return;
      }
      case "device": {
        const body = { ...named, ...(asked.length === 0 ? {} : { scopes: asked }) };
        setDevice({
          ...(await answer(svc.POST("/v1/credentials/oauth/device/initiate", { params: {}, body }))),
          provider: named.provider,
        });
        // The dialog stays and waits.
        return new Promise<void>(() => {});
      }
    }
  };
  if (device !== null) return <Waiting device={device} onClose={onClose} onDone={onDone} />;
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Connect a service"
      verb={way === "value" ? "Connect" : "Go on"}
      disabled={named.provider === "" || (way === "value" && value === "")}
      onSend={send}
    >
      <Select label="How" value={way} choices={ways} onChange={(next) => setWay(next as Way)} />
      <div className="grid gap-3 sm:grid-cols-2">
        <Input
          label="Provider"
          value={provider}
          onChange={setProvider}
          placeholder="github"
          hint="As manifests name it"
          required
          autoFocus
        />
        <Input label="Label" value={label} onChange={setLabel} placeholder="GitHub of the team" />
      </div>
      {way === "value" ? (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <Select label="Kind" value={kind} choices={kinds} onChange={setKind} />
            <Select
              label="For"
              value={scope}
              choices={[
                { value: "personal", label: "me" },
                { value: "tenant", label: "the whole tenant" },
              ]}
              onChange={setScope}
            />
          </div>
          <TextArea label="Value" value={value} onChange={setValue} rows={3} mono />
        </>
      ) : (
        <Input
          label="Scopes"
          value={scopes}
          onChange={setScopes}
          hint="Separated by spaces; the provider's usual ones when empty"
          mono
        />
      )}
    </FormDialog>
  );
}

/** Shows the code, and asks the provider through the service until it says yes or no. */
function Waiting({ device, onClose, onDone }: Props & { readonly device: Device }) {
  const { device_code, provider, interval } = device;
  const { data, error } = useQuery({
    queryKey: ["credential", "device", device_code],
    queryFn: () =>
      answer(svc.POST("/v1/credentials/oauth/device/poll", { params: {}, body: { device_code, provider } })),
    // The provider says how often it may be asked.
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.status === "pending" ? (state.data?.interval ?? interval) * 1_000 : false,
    retry: false,
  });
  const state = data?.status;
  useEffect(() => {
    if (state !== "approved") return;
    tell("Connected", provider);
    onDone().then(onClose, onClose);
  }, [state, provider, onDone, onClose]);
  const told = error?.message ?? (state === "denied" ? (data?.reason ?? "The provider said no.") : null);
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Connect ${provider}`}
      verb="Open the page"
      onSend={async () =>
        void window.open(device.verification_uri_complete ?? device.verification_uri, "_blank", "noopener")
      }
    >
      <p className="m-0">
        Open <Copyable value={device.verification_uri} /> and type this code:
      </p>
      <p className="m-0 text-center font-mono font-semibold text-2xl tracking-widest">{device.user_code}</p>
      <p className="m-0 text-ink-soft text-xs" role="status">
        {told ?? "Waiting for your answer there …"}
      </p>
      {told !== null && <Button onClick={onClose}>Close</Button>}
    </FormDialog>
  );
}
