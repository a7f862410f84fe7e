/** Connects a language model without a restart: keeps its key as a secret, loads the models again, asks one a question. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { Dialog } from "../../kit/dialogs/dialog.tsx";
import { Trouble } from "../../kit/page.tsx";
import { inert } from "../../kit/values/text.tsx";

const providers = [
  { value: "anthropic", label: "Anthropic" },
  { value: "openai", label: "OpenAI" },
  { value: "google", label: "Google" },
];

const steps = ["Keep the key as a secret", "Load the models again", "Ask the model one question"] as const;

const keep = async (provider: string, key: string) => {
  await answer(
    svc.PUT("/v1/secrets/{path}", { params: { path: { path: `llm/${provider}` } }, body: { value: key } as never }),
  );
};
const reload = () => answer(svc.POST("/v1/admin/llm/reload"));
const test = () => answer(svc.POST("/v1/admin/llm/test", { body: {} }));
type Tested = Awaited<ReturnType<typeof test>>;

export function ConnectModel({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const { tenant_id: tenant } = useMe();
  const [provider, setProvider] = useState("anthropic");
  const [key, setKey] = useState("");
  /** How many steps are done; null: it has not begun. */
  const [step, setStep] = useState<number | null>(null);
  /** Of what is done; testing alone is the last of them. */
  const [shown, show] = useState<readonly string[]>(steps);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [tested, setTested] = useState<Tested | null>(null);
  const connect = async (isTestOnly: boolean) => {
    setBusy(true);
    setError(null);
    setTested(null);
    show(isTestOnly ? steps.slice(-1) : steps);
    const asking = isTestOnly ? 0 : steps.length - 1;
    try {
      if (!isTestOnly) {
        setStep(0);
        await keep(provider, key.trim());
        setStep(1);
        await reload();
      }
      setStep(asking);
      setTested(await test());
      setStep(asking + 1);
      if (!isTestOnly) setKey("");
      await queries.invalidateQueries({ queryKey: ["doctor"] });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const isScripted = tested?.provider === "scripted";
  return (
    <Dialog
      open
      onClose={onClose}
      title="Connect a model"
      about="The key is kept encrypted as a secret of the platform and is never shown again. No restart is needed."
      actions={
        <>
          <Button look="ghost" disabled={busy} onClick={() => void connect(true)}>
            Only test
          </Button>
          {tested?.ok === true && !isScripted ? (
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          ) : (
            <Button look="primary" busy={busy} disabled={key.trim() === ""} onClick={() => void connect(false)}>
              Connect and test
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Select label="Provider" value={provider} choices={providers} onChange={setProvider} />
        <Input
          label="API key"
          type="password"
          mono
          value={key}
          onChange={setKey}
          hint={
            <>
              Becomes the secret <code>llm/{provider}</code>
            </>
          }
          onEnter={() => key.trim() !== "" && void connect(false)}
        />
        {tenant !== "svc-system" && (
          <p className="m-0 text-warn text-xs">
            You act for the tenant {inert(tenant)}; models are the platform’s. Act for svc-system to connect one.
          </p>
        )}
        {step !== null && (
          <ol aria-live="polite" className="m-0 flex list-none flex-col gap-1 p-0 text-xs">
            {shown.map((name, place) => (
              <li key={name} className={place < step ? "text-good" : place === step ? "text-ink" : "text-ink-faint"}>
                {place < step ? "✓" : place === step && busy ? "…" : "·"} {name}
              </li>
            ))}
          </ol>
        )}
        {error !== null && <Trouble error={error} />}
        {tested !== null && <Result tested={tested} />}
        <p className="m-0 text-ink-faint text-xs">
          Keys in the environment (<code>ANTHROPIC_API_KEY</code> and others) and providers in the configuration come
          first: where they name one, secrets are not looked for.
        </p>
      </div>
    </Dialog>
  );
}

function Result({ tested }: { readonly tested: Tested }) {
  const isScripted = tested.provider === "scripted";
  if (!tested.ok)
    return (
      <p role="alert" className="m-0 rounded-control bg-bad-soft px-3 py-2 text-bad">
        {inert(tested.provider ?? "The model")} refused: {inert(tested.error?.message ?? "no reason was given")}
      </p>
    );
  return (
    <p role="status" className={`m-0 rounded-control px-3 py-2 ${isScripted ? "bg-warn-soft" : "bg-good-soft"}`}>
      {isScripted ? (
        "Still the script answers: no key is in use."
      ) : (
        <>
          {inert(tested.provider ?? "")} <code>{inert(tested.model ?? "")}</code> answered “{inert(tested.answer ?? "")}
          ” in {tested.elapsed_ms} ms.
        </>
      )}
    </p>
  );
}
