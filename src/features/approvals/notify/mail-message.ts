/** What the readers of an approval's mail are told. */
import type { notificationBody } from "../../../../actors/approval/notifications.ts";
import type { MailMessage } from "../../../adapters/mail/port.ts";
import { callText } from "../call-text.ts";

type NotificationBody = ReturnType<typeof notificationBody>;

/** Characters of a prompt that a message repeats. */
const maxPrompt = 20_000;
const maxSubject = 200;

/** @param link where its reader may decide; null: nowhere, or no longer */
export function mailMessageOf(
  { event, approval }: NotificationBody,
  link: string | null,
): Pick<MailMessage, "subject" | "text"> {
  const what = [approval.workflow_name, approval.state_name].filter((name) => name !== null).join(" / ");
  const { tool_call } = approval;
  const name = what === "" ? (tool_call?.tool ?? approval.kind) : what;
  const asked = tool_call ? callText(approval.prompt, tool_call) : approval.prompt;
  if (event === "resolved") {
    const lines = [`${name} was asked about, and is now ${approval.status}.`, "", quoted(asked)];
    return { subject: shortened(`${name}: ${approval.status}`), text: lines.join("\n") };
  }
  const how = link === null ? [] : ["", "Decide here, once:", link];
  const lines = [openings[event], "", quoted(asked), "", `Until ${approval.expires_at}.`, ...how];
  return { subject: shortened(`${subjects[event]}: ${name}`), text: lines.join("\n") };
}

const subjects = { requested: "Decision needed", reminder: "Reminder", escalated: "Still undecided" } as const;
const openings = {
  requested: "Your decision is needed.",
  reminder: "Your decision is still needed.",
  escalated: "No decision has been made yet.",
} as const;

const quoted = (prompt: string): string =>
  prompt.length <= maxPrompt ? prompt : `${prompt.slice(0, maxPrompt).toWellFormed()}…`;

const shortened = (subject: string): string =>
  subject.length <= maxSubject ? subject : `${subject.slice(0, maxSubject).toWellFormed()}…`;
