/** What the turns of one batch write to their actors' logs, for the commit and for those who follow along. */
import type { Json } from "../../../../actors/kernel/json.ts";
import { type TailNews, tailedLog } from "../../reads/notices.ts";
import type { LogRow } from "../commit/logs.ts";
import type { CachedActor } from "../turn.ts";
import type { LargeTexts } from "./large-texts.ts";

/** Levels of an entry in which large texts are looked for: a run's last one holds its values, with its input's content twice. */
const levels = 4;

export class LogEntries {
  rows: LogRow[] = [];
  /** By actor, as `kind/key`. */
  readonly news = new Map<string, TailNews>();

  /** @param large texts of the same commit */
  constructor(private readonly large: LargeTexts) {}

  emit(actor: CachedActor, log: string, at: number, entry: Json): void {
    const { kind, key } = actor;
    const seq = (actor.logs[log] ?? 0) + 1;
    actor.logs[log] = seq;
    this.rows.push({ kind, key, log, seq, at, entry: this.large.write(entry, levels).text });
    if (log === tailedLog) this.newsOf(actor).entries.push({ seq, at, entry });
  }

  /** The actor is gone with everything it wrote, this batch's entries included. */
  end(actor: CachedActor): void {
    const { kind, key } = actor;
    this.rows = this.rows.filter((row) => row.kind !== kind || row.key !== key);
    actor.logs = {};
    this.newsOf(actor).ended = true;
  }

  private newsOf({ partition, kind, key, tenant }: CachedActor): TailNews {
    const name = `${kind}/${key}`;
    const known = this.news.get(name);
    if (known !== undefined) return known;
    const news: TailNews = { partition, kind, key, tenant, entries: [], ended: false };
    this.news.set(name, news);
    return news;
  }
}
