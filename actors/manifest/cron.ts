/** Whether cron expressions and time zones are ones that the clock can be asked for. */
import { CronExpressionParser } from "cron-parser";

/** Any moment will do: whether an expression is one does not depend on the time. */
const someTime = new Date(0);

/** What is wrong with an expression of five fields, each parted by one blank; null: nothing. */
export function cronFault(cron: string, tz: string): string | null {
  if (cron.split(" ").length !== 5) return "must have five fields";
  // `H` stands for a value the library draws by chance; everything else means the same every time.
  if (!/^[0-9A-Za-z*/,?#\- ]+$/.test(cron) || /(?<![A-Za-z])H(?![A-Za-z])/i.test(cron)) {
    return "is not a cron expression";
  }
  try {
    CronExpressionParser.parse(cron, { tz, currentDate: someTime }).next();
    return null;
  } catch {
    return "is not a cron expression that ever comes true";
  }
}

/** Whether there is an IANA time zone of this name. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
