/** How much of a limit is used. */
import { Meter as Base } from "@base-ui/react/meter";
import { classes } from "../../kit/controls/classes.ts";

/** Above these shares the bar warns. */
const warnShare = 0.75;
const badShare = 0.95;

export function Meter({
  label,
  used,
  limit,
}: {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
}) {
  const share = limit <= 0 ? 1 : Math.min(1, used / limit);
  const colour = share >= badShare ? "bg-bad" : share >= warnShare ? "bg-warn" : "bg-accent-strong";
  return (
    <Base.Root aria-label={label} value={Math.min(used, limit)} max={limit <= 0 ? 1 : limit}>
      <Base.Track className="h-1.5 w-full overflow-hidden rounded-full bg-hover">
        <Base.Indicator className={classes("h-full rounded-full", colour)} />
      </Base.Track>
    </Base.Root>
  );
}
