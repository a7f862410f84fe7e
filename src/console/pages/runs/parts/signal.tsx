/** Tells a run what it waits for. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Input, TextArea } from "../../../kit/controls/field.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Trouble } from "../../../kit/page.tsx";

/** @param name of the signal that it waits for; empty: the reader names one */
export function SignalForm({
  runId,
  name,
  onSent,
}: {
  readonly runId: string;
  readonly name: string;
  readonly onSent?: () => void;
}) {
  const [signal, setSignal] = useState(name);
  const [payload, setPayload] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const isBroken = payload.trim() !== "" && jsonOf(payload) === undefined;
  const send = async () => {
    if (signal.trim() === "" || isBroken) return;
    setBusy(true);
    setError(null);
    try {
      const body = { signal_name: signal.trim(), ...(payload.trim() === "" ? {} : { payload: jsonOf(payload) }) };
      const params = { path: { id: runId } };
      const { status, approval_id } = await answer(svc.POST("/v1/workflows/executions/{id}/signal", { params, body }));
      tell(
        status === "buffered" ? "The signal is kept" : "The signal was sent",
        status === "buffered"
          ? "Nothing waits for it yet; a Wait that is entered within a day takes it."
          : approval_id === undefined
            ? undefined
            : "It answered the approval that was open.",
      );
      setPayload("");
      queries.invalidateQueries({ queryKey: ["run", "one", runId] }).catch(() => {});
      onSent?.();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="flex min-w-0 flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div className="grid grid-cols-1 gap-2 sm:grid-cols-[14rem_minmax(0,1fr)]">
        <Input label="Signal" value={signal} onChange={setSignal} mono />
        <TextArea
          label="Payload (JSON), if it has one"
          rows={1}
          mono
          value={payload}
          onChange={setPayload}
          placeholder='{"receipt": "R-7"}'
          error={isBroken ? "This is no JSON" : null}
        />
      </div>
      {error !== null && <Trouble error={error} />}
      <Button
        type="submit"
        look="primary"
        busy={busy}
        disabled={signal.trim() === "" || isBroken}
        className="self-start"
      >
        Send the signal
      </Button>
    </form>
  );
}

/** Undefined for what is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
