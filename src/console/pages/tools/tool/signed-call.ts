/** One call of a tool as a signed invocation: a key and a session of its own, which ends with it. */
import { useState } from "react";
import { callSigned, canSign, endSession, openSession, type Session } from "../../../../programs/client/seal.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";

export type Phase = "opening" | "calling" | "waiting" | "ending" | "over";

/** A call that was begun here. */
export interface Trial {
  readonly phase: Phase;
  /** Null: it was not opened. */
  readonly session: Pick<Session, "id" | "securityContext" | "expiresAt"> | null;
  /** Of the tool, or that a person is asked; null: there is none. */
  readonly result: Readonly<Record<string, unknown>> | null;
  /** Why it was refused, or what failed on the way. */
  readonly error: unknown;
  /** From the click to the answer, ms. */
  readonly tookMs: number | null;
  /** Whether the session is over; it ends by its time otherwise. */
  readonly isEnded: boolean;
}

export interface TrialAsked {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Null: the usual one of the caller. */
  readonly context: string | null;
  /** A running execution, in whose sandbox it is called. */
  readonly execution: { readonly execution_id: string; readonly agent_id: string } | null;
}

const begun: Trial = { phase: "opening", session: null, result: null, error: null, tookMs: null, isEnded: false };

export function useSignedCall() {
  const can = useCan();
  const mayEnd = can("seal:manage");
  const [trial, setTrial] = useState<Trial | null>(null);
  const become = (change: Partial<Trial>) => setTrial((known) => ({ ...(known ?? begun), ...change }));

  /** A session that is left open ends by its time. */
  const end = async (id: string) => {
    if (!mayEnd) return become({ phase: "over" });
    become({ phase: "ending" });
    const isEnded = await endSession(svc, id, "The try-out in the console is over").then(
      () => true,
      () => false,
    );
    become({ phase: "over", isEnded });
  };

  return {
    trial,
    canSign: canSign(),
    isBusy: trial !== null && trial.phase !== "over" && trial.phase !== "waiting",
    end,
    async call({ name, arguments: named, context, execution }: TrialAsked): Promise<void> {
      const from = performance.now();
      const took = () => Math.round(performance.now() - from);
      setTrial(begun);
      let session: Session | null = null;
      try {
        session = await openSession(svc, {
          ...(context === null ? {} : { security_context: context }),
          ...execution,
        });
        const { id, securityContext, expiresAt } = session;
        become({ phase: "calling", session: { id, securityContext, expiresAt } });
        const { result } = await callSigned(svc, session, { name, arguments: named });
        become({ result, tookMs: took() });
        // The end of its session would take back a call that waits.
        if (result.status === "pending") return become({ phase: "waiting" });
      } catch (error) {
        become({ error, tookMs: took(), ...(session === null ? { phase: "over" } : {}) });
      }
      if (session !== null) await end(session.id);
    },
  };
}
