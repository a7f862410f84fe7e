/** One action for each of several things, one after the other, with progress and what failed. */
import { useState } from "react";
import { Button } from "./button.tsx";
import { tell, tellError } from "./toast.tsx";

interface BulkProps<T> {
  readonly verb: string;
  readonly things: readonly T[];
  readonly each: (thing: T) => Promise<unknown>;
  readonly onDone: () => void;
}

export function BulkButton<T>({ verb, things, each, onDone }: BulkProps<T>) {
  const [done, setDone] = useState<number | null>(null);
  const run = async () => {
    let failures = 0;
    for (const [index, thing] of things.entries()) {
      setDone(index);
      try {
        await each(thing);
      } catch (error) {
        failures += 1;
        if (failures === 1) tellError(`${verb}: one failed`, error);
      }
    }
    setDone(null);
    tell(verb, `${things.length - failures} of ${things.length} done`);
    onDone();
  };
  return (
    <Button small busy={done !== null} disabled={things.length === 0} onClick={() => void run()}>
      {done === null ? `${verb} (${things.length})` : `${done} of ${things.length} …`}
    </Button>
  );
}
