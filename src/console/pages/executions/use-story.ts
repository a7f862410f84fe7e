/** Follows what happens in an execution. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useCan } from "../../app/session/session.ts";
import { type Connection, useStream } from "../../app/streams/streams.ts";
import { Story } from "./story.ts";

/** Events after which the record says something new. */
const changesRecord = /^(execution_|iteration_|tool_call_(waiting|approved|rejected|withdrawn)|child_)/;

export interface Told {
  readonly story: Story;
  readonly connection: Connection;
  /** Grows when the story has changed. */
  readonly version: number;
  /** Events were lost for good: the story has a hole. */
  readonly hasGap: boolean;
}

/** @param id of the execution */
export function useStory(id: string): Told {
  const can = useCan();
  const queries = useQueryClient();
  const story = useRef({ id, story: new Story() });
  if (story.current.id !== id) story.current = { id, story: new Story() };
  const [version, setVersion] = useState(0);
  const [hasGap, setGap] = useState(false);
  const due = useRef<{ frame: ReturnType<typeof setTimeout> | null; record: boolean }>({ frame: null, record: false });
  useEffect(() => {
    const waiting = due.current;
    return () => {
      if (waiting.frame !== null) clearTimeout(waiting.frame);
      waiting.frame = null;
    };
  }, []);
  const path = can("execution:stream")
    ? `/v1/executions/${id}/stream${can("execution:logs") ? "?verbose=true" : ""}`
    : null;
  const connection = useStream(path, null, ({ event, data, id: order }) => {
    if (event === "gap") {
      setGap(true);
      return;
    }
    story.current.story.add(data, order);
    const name = typeof data === "object" && data !== null ? (Object.keys(data)[0] ?? "") : "";
    if (changesRecord.test(name)) due.current.record = true;
    // Thousands of events come at once when a page opens: they are shown together.
    due.current.frame ??= setTimeout(() => {
      due.current.frame = null;
      setVersion((known) => known + 1);
      if (!due.current.record) return;
      due.current.record = false;
      queries.invalidateQueries({ queryKey: ["execution", "one", id] }, { cancelRefetch: false }).catch(() => {});
    }, 40);
  });
  return { story: story.current.story, connection, version, hasGap };
}
