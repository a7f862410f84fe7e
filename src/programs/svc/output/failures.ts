/** What went wrong, for people and for programs: message, code, every issue with its place, request id. */
import { ApiError, type Issue } from "../../client/errors.ts";
import { exitOf, Failure } from "../process/exit.ts";
import { exits } from "../process/exits.ts";
import { escaped, Safe, say } from "./inert.ts";
import type { Output } from "./output.ts";

/** Written to standard error, in the format of the answer. */
export function tellFailure(error: unknown, output: Output): void {
  if (output.format === "text") tellPeople(error, output);
  else tellPrograms(error, output);
}

function tellPeople(error: unknown, output: Output): void {
  const { red, dim } = output.noteColours;
  const refusal = error instanceof ApiError ? error : null;
  const code = refusal === null ? "" : ` (${refusal.code})`;
  const [first = "", ...more] = messageOf(error).split("\n");
  output.note(say`${red("error:")} ${first}${code}`);
  for (const line of more) output.note(say`  ${line}`);
  for (const issue of refusal?.issues ?? []) output.note(say`  ${issueText(issue)}`);
  for (const cause of refusal === null ? [] : causesOf(refusal.body)) output.note(say`  ${cause}`);
  const hint = hintOf(error);
  if (hint !== null) output.note(say`${hint}`);
  if (refusal !== null && refusal.requestId !== null) output.note(say`${dim(`request id ${refusal.requestId}`)}`);
}

function tellPrograms(error: unknown, output: Output): void {
  const refusal = error instanceof ApiError ? error : null;
  const said = {
    code: refusal?.code ?? (error instanceof Failure ? error.code : exitOf(error)),
    message: messageOf(error),
    exit: exits[exitOf(error)],
    status: refusal?.status ?? null,
    issues: refusal?.issues ?? [],
    ...(refusal === null ? {} : causeMembers(refusal.body)),
    request_id: refusal?.requestId ?? null,
  };
  output.note(new Safe(escaped(JSON.stringify({ error: said }))));
}

type Members = Readonly<Record<string, unknown>>;

/** What a refusal tells of its cause, by the names that it has there: `cause`, `cause_code`, `cause_message`. */
const causeMembers = (body: Members): Members =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name === "cause" || name.startsWith("cause_")));

/** The same for people: `cause_code: invalid_input`. @param body of a refusal, or the details of an error in a record */
export const causesOf = (body: Members): readonly string[] =>
  Object.entries(causeMembers(body))
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);

/** `spec.tools[0].name, line 12: …` */
export function issueText({ path, line, message, code }: Issue): string {
  const place = [path, line === null ? "" : `line ${line}`].filter((part) => part !== "").join(", ");
  return `${place === "" ? "" : `${place}: `}${message}${code === null ? "" : ` (${code})`}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** By the code of a refusal that another sentence would explain wrongly. */
const hints: Readonly<Record<string, string>> = {
  invalid_signature: "Was it signed by the source's present secret? `svc sources rotate-secret` makes another one.",
};

/** What to do next, where there is something to be done. */
function hintOf(error: unknown): string | null {
  if (error instanceof Failure) return error.hint;
  if (!(error instanceof ApiError)) return null;
  const { required } = error.body;
  if (typeof required === "string") return `It needs the scope ${required}; \`svc whoami\` tells which ones you have.`;
  const known = hints[error.code];
  if (known !== undefined) return known;
  if (error.message.includes("force=true")) return "The option --force does so.";
  if (error.status === 401) return "Sign in with `svc login`, or give an API key with --api-key.";
  return error.retryAfter === null ? null : `It may be tried again in ${error.retryAfter} s.`;
}
