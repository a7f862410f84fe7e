/** The time that is left. */
import { durationText, useNow } from "../../kit/values/time.tsx";

/** @param to as the service sends it */
export function Countdown({ to }: { readonly to: string }) {
  const present = useNow();
  const left = Date.parse(to) - present;
  return (
    <time dateTime={to} title={to} className="whitespace-nowrap tabular-nums">
      {left <= 0 ? "no time" : durationText(left)}
    </time>
  );
}
