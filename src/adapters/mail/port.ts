/** Mail that the service sends, by the SMTP server of its operator. */
import type { Transporter } from "nodemailer";

export interface Letter {
  /** The same whenever the same letter is sent again: readers' programs show it once. */
  readonly id: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mail {
  /** @throws when the server did not take it */
  send(letter: Letter): Promise<void>;
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
