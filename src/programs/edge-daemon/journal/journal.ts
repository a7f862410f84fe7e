/**
 * What the daemon remembers of commands across its own death: which ones may have started, and how those ended. A record
 * counts once it is on disk. Records that wait are written and synced together.
 *
 * A journal that cannot be written says so (`failure`), and is written anew from memory, as a whole, until that succeeds.
 *
 * `seq` is how the service finds out that an older image of the disk was restored: it is then below the last hello's, plus
 * one for each command that was first reported since. So it must not grow by a restart alone: the ends that a start of the
 * daemon finds (`settled`) are never counted.
 *
 * - Killed and started, once or often: `seq` is as loaded. Each command that was reported since the last hello has a
 *   counted record from since then: its `started`, or its end where it never started. The same journal.
 * - Restored to an image that misses a counted record from before the last hello: `seq` is below that hello's, also where
 *   the first hellos after it were lost on the way and the daemon was started again. Another journal.
 * - Restored to a later image that has fewer records than commands were reported since: below both. Another journal.
 * - Welcomed as another journal: `seq` counts on from where it is. The same journal from there.
 *
 * What remains: an image that has all that the service was told of, by number, cannot be told from a daemon that died.
 */
import { mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ListedCommand, Result } from "../../../../actors/edge/frames.ts";
import { reasonOf, type StateDirectory } from "../state/directory.ts";
import { crashPoint, isCrashWanted } from "./crash-points.ts";
import { Entries, type Entry, isEnding, numberOf } from "./entries.ts";
import {
  closeFile,
  openFile,
  placed,
  readAt,
  readJournal,
  renameFile,
  syncData,
  syncFile,
  writeAt,
} from "./journal-file.ts";
import {
  decodeRecord,
  encodeLine,
  type FinishedRecord,
  type JournalRecord,
  type Span,
  type StartedRecord,
} from "./record.ts";

/** A command that may have started. */
export type StartedCommand = Omit<StartedRecord, "k" | "n">;

interface Waiting {
  readonly record: JournalRecord;
  readonly done: (written: boolean) => void;
}

/** How long a result is kept after the service has acknowledged it, ms. */
const keptMs = 86_400_000;
/** Bytes beyond the doubled size after which the file is written anew. */
const slackBytes = 1_048_576;
const retryMs = 1_000;

export interface JournalOptions {
  /** Unix ms. */
  readonly now: () => number;
  /** Told when it stops and begins to be writable. */
  readonly changed?: () => void;
  readonly slack?: number;
}

export class Journal {
  readonly #entries = new Entries();
  readonly #waiting: Waiting[] = [];
  #id: string = crypto.randomUUID();
  #fd: number | null = null;
  #size = 0;
  #compactAbove = 0;
  /** Highest number given, and highest on disk. */
  #given = 0;
  #synced = 0;
  #failure: string | null = null;
  #working: Promise<void> | null = null;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  private constructor(
    private readonly state: StateDirectory,
    private readonly options: JournalOptions,
  ) {}

  /** Reads the journal, or begins one. One that cannot be written has `failure`, and is tried again. */
  static async open(state: StateDirectory, options: JournalOptions): Promise<Journal> {
    const journal = new Journal(state, options);
    try {
      journal.#load();
    } catch (error) {
      journal.#failure = reasonOf(error);
      journal.#begins();
    }
    journal.#compactAbove = 0;
    await journal.#work();
    return journal;
  }

  get id(): string {
    return this.#id;
  }
  /** Records that have been on disk, of all time; without the ends that `settled` wrote. */
  get seq(): number {
    return this.#synced;
  }
  /** Why it cannot be written; null: it can. */
  get failure(): string | null {
    return this.#failure;
  }

  /** `ending`: it has ended, and that is not on disk yet. */
  stateOf(commandId: string): Entry["state"] | "ending" | null {
    const entry = this.#entries.get(commandId);
    return entry !== undefined && isEnding(entry) ? "ending" : (entry?.state ?? null);
  }

  /** Commands that may have started and have no end. */
  unfinished(): StartedCommand[] {
    return this.#entries.started();
  }

  /** Ids of commands whose result the service has not acknowledged. */
  unacknowledged(): string[] {
    return this.#entries.unacknowledged();
  }

  /** As a hello lists them, no more than it may: what runs first, then what ended last. */
  listed(): ListedCommand[] {
    return this.#entries.listed();
  }

  /** @returns false when it could not be put on disk: the command must not start */
  async started(command: StartedCommand): Promise<boolean> {
    if (this.#failure !== null) return false;
    crashPoint("started-unwritten");
    const record: StartedRecord = { k: "started", n: ++this.#given, ...command };
    const written = await this.#append(record);
    if (written) crashPoint("started-synced");
    return written;
  }

  /** So many ends wait for the service that no further command is to be taken. */
  get isFull(): boolean {
    return this.#entries.isFull;
  }

  /** Resolves when the end is on disk, which takes as long as the disk refuses it. */
  finished(result: Result): Promise<void> {
    return this.#end(result, ++this.#given);
  }

  /** As `finished`, for the end of a command of an earlier daemon; `seq` does not count it. */
  settled(result: Result): Promise<void> {
    return this.#end(result, this.#given);
  }

  async #end(result: Result, n: number): Promise<void> {
    crashPoint("ended");
    const record: FinishedRecord = { k: "finished", n, id: result.command_id, result };
    this.#set(result, record.n, false);
    while (!(await this.#append(record)) && !this.#isClosed) await this.#writable();
    crashPoint("finished-synced");
  }

  /** A refusal that may be told although the disk takes no records; it is written with the rest once that can be. */
  remember(result: Result): void {
    this.#set(result, ++this.#given, true);
  }

  #set(result: Result, n: number, isVolatile: boolean): void {
    this.#entries.set(result.command_id, { state: "finished", n, place: null, result, isVolatile, ackedAt: null });
  }

  /** The end of a command. Null: it is not known, or cannot be read. */
  async resultOf(commandId: string): Promise<Result | null> {
    const entry = this.#entries.get(commandId);
    if (entry?.state !== "finished" || isEnding(entry)) return null;
    if (entry.place === null) return entry.result;
    return (await this.#finishedAt(commandId, entry.place))?.result ?? null;
  }

  /** The service has committed the end of a command. */
  async acknowledged(commandId: string): Promise<void> {
    const entry = this.#entries.get(commandId);
    if (entry?.state !== "finished" || entry.ackedAt !== null) return;
    const at = this.options.now();
    this.#entries.set(commandId, { ...entry, ackedAt: at });
    // Lost with the machine's power, it makes the result go out once more.
    if (await this.#append({ k: "acked", id: commandId, at })) crashPoint("acknowledged");
  }

  /** Writes what waits, and closes the file. */
  async close(): Promise<void> {
    while (this.#working !== null) await this.#working;
    this.#isClosed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#fd !== null) await closeFile(this.#fd);
    this.#fd = null;
  }

  #load(): void {
    let hasHead = false;
    const opened = readJournal(this.state.journal, (record, place) => {
      if (record.k !== "journal") return this.#apply(record, place);
      hasHead = true;
      this.#id = record.id;
      this.#given = Math.max(this.#given, record.seq);
    });
    if (opened === null) return;
    if (opened === "damaged" || !hasHead) {
      this.#putAside();
      return;
    }
    this.#fd = opened.fd;
    this.#size = opened.size;
    this.#synced = this.#given;
  }

  /** What the former file does not tell might have run: a new journal says so to the service. */
  #putAside(): void {
    this.#begins();
    mkdirSync(this.state.archive, { recursive: true, mode: 0o700 });
    renameSync(this.state.journal, join(this.state.archive, `journal.${this.options.now()}`));
  }

  #begins(): void {
    this.#entries.clear();
    this.#id = crypto.randomUUID();
    this.#given = 0;
  }

  #apply(record: Exclude<JournalRecord, { k: "journal" }>, place: Span): void {
    if (record.k === "acked") {
      const entry = this.#entries.get(record.id);
      if (entry?.state === "finished") this.#entries.set(record.id, { ...entry, ackedAt: record.at });
      return;
    }
    this.#given = Math.max(this.#given, record.n);
    if (record.k === "started") this.#entries.set(record.id, { state: "started", record });
    else {
      const ackedAt = record.acked_at ?? null;
      this.#entries.set(record.id, { state: "finished", n: record.n, place, result: null, isVolatile: false, ackedAt });
    }
  }

  #append(record: JournalRecord): Promise<boolean> {
    if (this.#failure !== null || this.#isClosed) return Promise.resolve(false);
    return new Promise((done) => {
      this.#waiting.push({ record, done });
      this.#begin();
    });
  }

  #begin(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      if (this.#waiting.length > 0 && this.#failure === null) this.#begin();
    });
  }

  /** Writes the file anew where that is due, then what waits, until nothing does. */
  async #work(): Promise<void> {
    try {
      if (this.#size >= this.#compactAbove) await this.#compact();
      while (this.#waiting.length > 0) {
        await this.#write(this.#waiting.splice(0));
        if (this.#size >= this.#compactAbove) await this.#compact();
      }
      if (this.#failure === null) return;
      this.#failure = null;
      this.options.changed?.();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const isNew = this.#failure === null;
    this.#failure = reasonOf(error);
    this.#compactAbove = 0;
    for (const { done } of this.#waiting.splice(0)) done(false);
    if (isNew) this.options.changed?.();
    if (this.#isClosed) return;
    this.#retry = setTimeout(() => this.#begin(), retryMs);
  }

  /** Resolves when the disk may take records again. */
  async #writable(): Promise<void> {
    while (this.#failure !== null && !this.#isClosed) await Bun.sleep(retryMs / 4);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const fd = this.#fd;
    if (fd === null) throw new Error("the journal is not open");
    const { bytes: line, spans } = encodeLine(batch.map(({ record }) => record));
    const at = this.#size;
    const kinds = new Set(batch.map(({ record }) => record.k));
    try {
      for (const kind of ["started", "finished"] as const) {
        if (!kinds.has(kind) || !isCrashWanted(`${kind}-torn`)) continue;
        await writeAt(fd, line.subarray(0, line.length / 2), at);
        crashPoint(`${kind}-torn`);
      }
      await writeAt(fd, line, at);
      for (const kind of ["started", "finished"] as const) if (kinds.has(kind)) crashPoint(`${kind}-unsynced`);
      await syncData(fd);
    } catch (error) {
      for (const { done } of batch) done(false);
      throw error;
    }
    this.#size += line.length;
    for (const [index, { record }] of batch.entries()) {
      if (record.k === "journal") continue;
      if (record.k !== "acked") this.#synced = Math.max(this.#synced, record.n);
      if (record.k !== "acked" || this.#entries.get(record.id)?.state !== "finished")
        this.#keep(record, placed(spans[index], at));
    }
    for (const { done } of batch) done(true);
  }

  /** What was acknowledged while it was being written stays so. */
  #keep(record: Exclude<JournalRecord, { k: "journal" }>, place: Span): void {
    const before = this.#entries.get(record.id);
    this.#apply(record, place);
    const now = this.#entries.get(record.id);
    if (before?.state === "finished" && now?.state === "finished")
      this.#entries.set(record.id, { ...now, ackedAt: before.ackedAt });
  }

  async #finishedAt(commandId: string, place: Span): Promise<FinishedRecord | null> {
    if (this.#fd === null) return null;
    const record = decodeRecord(await readAt(this.#fd, place));
    return record?.k === "finished" && record.id === commandId ? record : null;
  }

  /** One entry in the new file. @returns null where its time is over */
  async #copy(id: string, entry: Entry, put: (record: JournalRecord) => Promise<Span>): Promise<Entry | null> {
    if (entry.state === "started") {
      await put(entry.record);
      return entry;
    }
    const { n, place, ackedAt } = entry;
    if (ackedAt !== null && ackedAt + keptMs <= this.options.now()) return null;
    const result = entry.result ?? (place === null ? null : (await this.#finishedAt(id, place))?.result);
    if (!result) throw new Error(`the result of ${id} cannot be read`);
    const acked = ackedAt === null ? {} : { acked_at: ackedAt };
    return { ...entry, place: await put({ k: "finished", n, id, result, ...acked }), result: null };
  }

  /** Writes what still counts into a new file, which then takes the place of the former one. */
  async #compact(): Promise<void> {
    const draft = `${this.state.journal}.new`;
    const fd = await openFile(draft, "w+", 0o600);
    const kept = new Map<string, Entry>();
    const dropped: string[] = [];
    let size = 0;
    const put = async (record: JournalRecord): Promise<Span> => {
      const { bytes, spans } = encodeLine([record]);
      const at = size;
      await writeAt(fd, bytes, at);
      size += bytes.length;
      return placed(spans[0], at);
    };
    try {
      let seq = this.#synced;
      for (const [, entry] of this.#entries) seq = Math.max(seq, numberOf(entry));
      await put({ k: "journal", id: this.#id, seq });
      for (const [id, entry] of this.#entries) {
        const copy = await this.#copy(id, entry, put);
        if (copy === null) dropped.push(id);
        else kept.set(id, copy);
      }
      crashPoint("compaction-unsynced");
      await syncFile(fd);
      crashPoint("compaction-synced");
      await renameFile(draft, this.state.journal);
      crashPoint("compaction-renamed");
      const directory = await openFile(dirname(draft), "r");
      await syncFile(directory).finally(() => closeFile(directory));
      this.#synced = Math.max(this.#synced, seq);
    } catch (error) {
      await closeFile(fd);
      throw error;
    }
    if (this.#fd !== null) await closeFile(this.#fd);
    this.#fd = fd;
    this.#size = size;
    this.#compactAbove = 2 * size + (this.options.slack ?? slackBytes);
    for (const id of dropped) this.#entries.delete(id);
    for (const [id, now] of kept) {
      const entry = this.#entries.get(id);
      // What was acknowledged, or ended, meanwhile stays so.
      if (now.state === "finished" && entry?.state === "finished")
        this.#entries.set(id, { ...now, ackedAt: entry.ackedAt });
    }
  }
}
