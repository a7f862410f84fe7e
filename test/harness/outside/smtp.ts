/** A mail server outside of svc: takes what it is sent, by the protocol, and shows it. */
import { createServer, type Server, type Socket } from "node:net";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came, head and body; lines end with \n. */
  readonly raw: string;
  /** The body, decoded. */
  readonly text: string;
}

export class SmtpServer {
  readonly received: ReceivedMail[] = [];
  /** Recipients refused so often before they are taken. */
  readonly refusals = new Map<string, number>();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {});
      this.#serve(socket);
    });
  }

  static async open(): Promise<SmtpServer> {
    const server = new SmtpServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    const address = this.#server.address();
    return `smtp://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  /** What reached an address, oldest first. */
  to(address: string): ReceivedMail[] {
    return this.received.filter(({ to }) => to.includes(address));
  }

  stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    let pending = "";
    let data: string[] | null = null;
    let envelope = { from: "", to: [] as string[] };
    const say = (line: string) => socket.write(`${line}\r\n`);
    const take = (line: string) => {
      if (data !== null) {
        if (line !== ".") {
          data.push(line.startsWith("..") ? line.slice(1) : line);
          return;
        }
        this.received.push({ ...envelope, raw: data.join("\n"), text: textOf(data) });
        data = null;
        envelope = { from: "", to: [] };
        say("250 taken");
        return;
      }
      const [, verb = "", rest = ""] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
      const address = /<([^>]*)>/.exec(rest)?.[1] ?? "";
      switch (verb.toUpperCase()) {
        case "EHLO":
        case "HELO":
          say("250 mail.test");
          break;
        case "MAIL":
          envelope = { from: address, to: [] };
          say("250 ok");
          break;
        case "RCPT": {
          const left = this.refusals.get(address) ?? 0;
          this.refusals.set(address, left - 1);
          if (left <= 0) envelope.to.push(address);
          say(left > 0 ? "451 not now" : "250 ok");
          break;
        }
        case "DATA":
          data = [];
          say("354 go on");
          break;
        case "QUIT":
          say("221 bye");
          socket.end();
          break;
        default:
          say("250 ok");
      }
    };
    say("220 mail.test");
    socket.on("data", (bytes) => {
      pending += bytes.toString("utf8");
      for (let end = pending.indexOf("\r\n"); end >= 0; end = pending.indexOf("\r\n")) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 2);
        take(line);
      }
    });
  }
}

function textOf(lines: readonly string[]): string {
  const blank = lines.indexOf("");
  const head = lines.slice(0, blank).join("\n");
  const body = lines.slice(blank + 1).join("\n");
  const encoding = /^content-transfer-encoding: *(\S+)/im.exec(head)?.[1]?.toLowerCase();
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  if (encoding !== "quoted-printable") return body;
  const bytes = body
    .replace(/=\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
