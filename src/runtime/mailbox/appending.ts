/**
 * Messages on their way into mailboxes: what is sent at one moment goes with one command, and so does what gathers while
 * that one is under way. A command for each message would cost a node more than all else that it does for it.
 *
 * One command at a time is under way in a line. On a Cluster each mailbox has a line: the client does not keep commands in
 * order where it is redirected or a node fails, and a message that overtakes an earlier one of its sender would make that
 * one look like a repeat. Elsewhere one line serves all: a command that the server refused for an unknown script is sent
 * again, and would then be overtaken.
 */
import { Command } from "ioredis";
import { EqualLimits, type Limited } from "../../lib/equal-limits.ts";
import { commandMsOf, type RedisClient } from "../../store/redis/connections.ts";
import { isUnknownScript, scriptOf } from "../../store/redis/script.ts";
import { MailboxFull, RuntimeUnavailable } from "../port.ts";
import { type Envelope, encodeEnvelope } from "./envelope.ts";

/** Messages in one command, and characters of them, at most; a larger one goes alone. */
const mostTogether = 512;
const mostCharacters = 1024 * 1024;
/** Messages on their way from this node, and characters of them; more are refused. */
const mostWaiting = 50_000;
const mostWaitingCharacters = 64 * 1024 * 1024;

const script = scriptOf("append-each");

/** What is on its way. */
interface Load {
  messages: number;
  characters: number;
}

/** One on its way. Refers to nothing large once it is over. */
class Message implements Limited {
  dueAt = 0;
  isOver = false;

  constructor(
    readonly key: string,
    public text: string,
    private readonly load: Load,
    private resolve: () => void,
    private reject: (error: Error) => void,
  ) {
    load.messages++;
    load.characters += text.length;
  }

  /** @param why it was not accepted; null when it was */
  end(why: string | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.load.messages--;
    this.load.characters -= this.text.length;
    if (why === null) this.resolve();
    else this.reject(new RuntimeUnavailable(`The message store did not accept the message: ${why}`));
    this.text = "";
    this.resolve = this.reject = nothing;
  }
}

const nothing = () => {};

export class Appending {
  private readonly limits: EqualLimits<Message>;
  private readonly lines = new Map<string, Line>();
  private readonly load: Load = { messages: 0, characters: 0 };

  constructor(
    private readonly redis: RedisClient,
    private readonly isCluster: boolean,
  ) {
    this.limits = new EqualLimits(commandMsOf(redis), (message) => message.end("Command timed out"));
  }

  /**
   * Appends a message to a stream; when this resolves it is accepted. Counted from this call, not from when the command
   * is sent, it takes no longer than the connection's limit for a command. One that is late may still take effect.
   * @throws MailboxFull when too many are on their way, RuntimeUnavailable when the message is not accepted
   */
  append(key: string, envelope: Envelope): Promise<void> {
    if (this.load.messages >= mostWaiting || this.load.characters >= mostWaitingCharacters)
      return Promise.reject(new MailboxFull(1));
    return new Promise((resolve, reject) => {
      const message = new Message(key, encodeEnvelope(envelope), this.load, resolve, reject);
      this.limits.add(message);
      this.lineOf(key).add(message);
    });
  }

  private lineOf(key: string): Line {
    const name = this.isCluster ? key : "";
    let line = this.lines.get(name);
    if (line === undefined) {
      line = new Line(this.redis);
      this.lines.set(name, line);
    }
    return line;
  }
}

/** Messages in their order, of which one command's are under way. */
class Line {
  private waiting: Message[] = [];
  private isBusy = false;

  constructor(private readonly redis: RedisClient) {}

  add(message: Message): void {
    this.waiting.push(message);
    if (this.isBusy) return;
    this.isBusy = true;
    setImmediate(this.send);
  }

  private readonly send = async (): Promise<void> => {
    for (let messages = this.next(); messages.length > 0; messages = this.next()) {
      try {
        const failures = await append(this.redis, messages);
        for (let at = 0; at < failures.length; at += 2)
          messages[Number(failures[at]) - 1]?.end(String(failures[at + 1]));
        for (const message of messages) message.end(null);
      } catch (error) {
        for (const message of messages) message.end((error as Error).message);
      }
    }
    this.isBusy = false;
  };

  /** The messages of the next command; those whose time is over are not sent any more. */
  private next(): readonly Message[] {
    const messages: Message[] = [];
    let characters = 0;
    let end = 0;
    for (const message of this.waiting) {
      if (!message.isOver) {
        characters += message.text.length;
        if (messages.length >= mostTogether || (messages.length > 0 && characters > mostCharacters)) break;
        messages.push(message);
      }
      end++;
    }
    this.waiting = end === this.waiting.length ? [] : this.waiting.slice(end);
    return messages;
  }
}

/** @returns which messages failed, and why: their places, counted from 1, and errors by turns */
async function append(redis: RedisClient, messages: readonly Message[]): Promise<readonly (string | number)[]> {
  const [first] = messages;
  if (first !== undefined && messages.length === 1) {
    await run(redis, "xadd", [first.key, "*", "m", first.text]);
    return [];
  }
  const parameters: (string | number)[] = [messages.length];
  for (const { key } of messages) parameters.push(key);
  for (const { text } of messages) parameters.push(text);
  const reply = await run(redis, "evalsha", [script.digest, ...parameters]).catch((error: unknown) => {
    if (!isUnknownScript(error)) throw error;
    return run(redis, "eval", [script.text, ...parameters]);
  });
  return reply as (string | number)[];
}

/** Sends a command now: what gathers here need not wait until the client has gathered more. */
const run = (redis: RedisClient, name: string, parameters: (string | number)[]) =>
  redis.sendCommand(new Command(name, parameters, { replyEncoding: "utf8" })) as Promise<unknown>;
