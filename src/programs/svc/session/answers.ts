/** Whether what answers is the service at all. */
import { answer, type Client, type Schemas } from "../../client/client.ts";
import { Failure } from "../process/exit.ts";

/** @param detail what the program could not read, for those who look for a fault of its own; null: nothing is known */
export const notOurs = (url: string, detail: string | null = null): Failure =>
  new Failure(
    "failed",
    `The service at ${url} gave an answer that is not svc's`,
    detail === null ? "Is the address right?" : `Is the address right? (${detail})`,
    "unreadable_answer",
  );

/** Another program's answer is noticed where it is read: it is no JSON, or lacks a member. */
export const isMisread = (error: unknown): error is Error => error instanceof TypeError || error instanceof SyntaxError;

/** Rethrows what is thrown over the answer of a service, as a failure that says so. */
export const asMisread =
  (url: string) =>
  (error: unknown): never => {
    throw isMisread(error) ? notOurs(url, error.message) : error;
  };

/** Who calls, by the service's own word. @throws Failure where it gives none; ApiError, Unreachable */
export async function checkedCaller(client: Client): Promise<Schemas["Caller"]> {
  const caller = await answer(client.GET("/v1/auth/me")).catch(asMisread(client.url));
  if (!Array.isArray(caller?.scopes)) throw notOurs(client.url);
  return caller;
}
