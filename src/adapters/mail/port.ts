/** Mail that the service sends, by the SMTP server of its operator. */
import type { Transporter } from "nodemailer";
import { derivedText, url } from "../../config/setting.ts";

export const mailSettings = {
  smtpUrl: url("SVC_SMTP_URL", {
    meaning: "SMTP server that mail is sent by, with user and password; without one no manifest may ask for mail",
    schemes: ["smtp", "smtps"],
    defaultText: "no mail is sent",
  }),
  smtpFrom: derivedText("SVC_SMTP_FROM", {
    meaning: "sender of the service's mail",
    pattern: /^[^\r\n\0@]*[^\s\0@]@[^\s\0@]+$/,
    bounds: "an address, with or without a name",
    defaultText: "svc@ and the host of SVC_PUBLIC_URL",
    fallback: (read) => `svc@${hostOf(read("SVC_PUBLIC_URL"))}`,
  }),
};

/** Of a URL that another setting may refuse yet. */
function hostOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : "localhost";
}

export interface MailMessage {
  /** The same whenever the same message is sent again: readers' programs show it once. */
  readonly id: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mail {
  /** @throws when the server did not take it */
  send(message: MailMessage): Promise<void>;
  /** Signs in and sends nothing. @throws when the server cannot be reached or does not let the service in */
  probe(): Promise<void>;
  close(): void;
}

export interface MailOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  readonly url: string;
  /** One address, with or without a name. */
  readonly from: string;
}

/** Beyond these a server counts as away, ms. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };

export function openMail({ url, from }: MailOptions): Mail {
  let transport: Promise<Transporter> | null = null;
  const domain = /@([A-Za-z0-9.-]+)/.exec(from)?.[1] ?? "localhost";
  return {
    async send({ id, to, subject, text }) {
      transport ??= openTransport(url);
      await (await transport).sendMail({
        from,
        // Not as text: that may name several.
        to: { name: "", address: to },
        subject: subject.replace(/\s+/g, " "),
        text,
        messageId: `<${id}@${domain}>`,
        headers: { "Auto-Submitted": "auto-generated" },
      });
    },
    async probe() {
      transport ??= openTransport(url);
      await (await transport).verify();
    },
    close: () => void transport?.then((opened) => opened.close()),
  };
}

/** The library is loaded with the first mail. */
async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    pool: true,
    ...timeouts,
    // A mail is made of nothing but what it is given.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
