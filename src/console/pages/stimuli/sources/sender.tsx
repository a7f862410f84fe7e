/** How the sender signs and sends, and a test that does it from here. */
import { Link } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../../../programs/client/client.ts";
import { serviceUrl } from "../../../app/session/place.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Input, TextArea } from "../../../kit/controls/field.tsx";
import { Tabs } from "../../../kit/controls/tabs.tsx";
import { Trouble } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Command, CopyButton, Lines } from "../../../kit/values/text.tsx";
import { canSign, sampleBody, signedHeaders } from "./sign.ts";
import { snippetsOf } from "./snippets.ts";

type Source = Schemas["Source"];

/** @param secret while it is known; the snippets hold it then */
export function Snippets({ of, secret }: { readonly of: Source; readonly secret: string | null }) {
  const snippets = snippetsOf({
    preset: of.signature.preset,
    url: of.url,
    secret,
    timed: of.require_timestamp,
  });
  const [chosen, choose] = useState(snippets[0]?.id ?? "");
  return (
    <Tabs
      chosen={snippets.some(({ id }) => id === chosen) ? chosen : (snippets[0]?.id ?? "")}
      onChoose={choose}
      tabs={snippets.map(({ id, label, about, code, steps }) => ({
        id,
        label,
        content: (
          <div className="flex flex-col gap-2">
            <p className="m-0 text-ink-soft">{about}</p>
            {steps.map(([name, value]) => (
              <div key={name} className="grid items-center gap-x-3 gap-y-0.5 sm:grid-cols-[8rem_1fr]">
                <span className="text-ink-soft text-xs">{name}</span>
                <Command text={value} />
              </div>
            ))}
            {code !== null && (
              <div className="relative">
                <Lines text={code} />
                <span className="absolute top-1.5 right-1.5">
                  <CopyButton value={code} label="Copy the snippet" />
                </span>
              </div>
            )}
          </div>
        ),
      }))}
    />
  );
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly stimulus: string | null;
  readonly run: string | null;
}

/** @param secret that was just made; null: the reader types it, and it stays in this page */
export function TestDelivery({ of, secret }: { readonly of: Source; readonly secret: string | null }) {
  const { preset } = of.signature;
  const [typed, setTyped] = useState("");
  const [body, setBody] = useState(() => sampleBody(preset, Date.now()));
  const [event, setEvent] = useState("push");
  const [isBusy, setBusy] = useState(false);
  const [answered, setAnswered] = useState<Answered | null>(null);
  const [error, setError] = useState<unknown>(null);
  const key = secret ?? typed;
  if (!canSign())
    return (
      <p className="m-0 text-ink-soft">
        This browser signs on https and on localhost only: send a test by the snippet instead.
      </p>
    );
  const send = async () => {
    setBusy(true);
    setError(null);
    setAnswered(null);
    try {
      const sample = { preset, secret: key, body, event: event.trim(), timed: of.require_timestamp };
      const headers = await signedHeaders(sample, Date.now());
      // The source's own URL, as this page reaches it. No identity goes along: the signature is the whole proof.
      const url = `${serviceUrl}/v1/webhooks/${encodeURIComponent(of.source)}/${of.id}`;
      const response = await fetch(url, { method: "POST", headers, body, credentials: "omit" });
      setAnswered(readAnswer(response.status, await response.text()));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-col gap-3">
      {secret === null && (
        <Input
          label="Secret"
          type="password"
          value={typed}
          onChange={setTyped}
          hint="It signs in this page and is sent nowhere."
        />
      )}
      {preset === "github" && <Input label="Event" value={event} onChange={setEvent} className="max-w-60" />}
      <TextArea label="Body" mono rows={5} value={body} onChange={setBody} />
      <div>
        <Button
          look={secret === null ? "plain" : "primary"}
          busy={isBusy}
          disabled={key === ""}
          onClick={() => void send()}
        >
          <Send aria-hidden />
          Send a signed test
        </Button>
      </div>
      {error !== null && <Trouble error={error} title="The test was not sent" />}
      {answered !== null && <AnswerShown of={answered} />}
    </div>
  );
}

function AnswerShown({ of }: { readonly of: Answered }) {
  const isGood = of.status < 300;
  return (
    <div role="status" className="flex flex-col gap-2">
      <p className="m-0 flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={isGood ? "good" : "bad"}>{of.status}</Badge>
        <span>
          {isGood ? "The signature is right, and the message was taken." : "It was not taken; the answer says why."}
        </span>
        {of.stimulus !== null && (
          <Link to={`/stimuli/${of.stimulus}`} className="text-accent hover:underline">
            The stimulus
          </Link>
        )}
        {of.run !== null && (
          <Link to={`/runs/${of.run}`} className="text-accent hover:underline">
            Its run
          </Link>
        )}
      </p>
      <Lines text={of.text} />
    </div>
  );
}

function readAnswer(status: number, text: string): Answered {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const idOf = (name: string) => (typeof value[name] === "string" ? value[name] : null);
    return {
      status,
      text: JSON.stringify(value, null, 2),
      stimulus: idOf("stimulus_id") ?? idOf("original_stimulus_id"),
      run: idOf("workflow_execution_id"),
    };
  } catch {
    return { status, text, stimulus: null, run: null };
  }
}
