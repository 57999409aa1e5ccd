const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d)(?::?(\d\d))?)$/i;
const MINUTES_PER_DAY = 1_440;

/** `full-date` of RFC 3339. */
export function isDate(text: string): boolean {
  const [year = 0, month = 0, day = 0] = (DATE.exec(text) ?? []).slice(1).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** `full-time` of RFC 3339. The minutes of the offset may be absent. */
export function isTime(text: string): boolean {
  const found = TIME.exec(text);
  if (found === null) return false;
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number);
  const [offsetHours, offsetMinutes] = [Number(found[5] ?? 0), Number(found[6] ?? 0)];
  if (hour > 23 || minute > 59 || offsetHours > 23 || offsetMinutes > 59) return false;
  if (second < 60) return true;
  // A leap second is the last one of a day in UTC.
  const offset = (offsetHours * 60 + offsetMinutes) * (found[4] === '-' ? -1 : 1);
  const utc = (hour * 60 + minute - offset + MINUTES_PER_DAY) % MINUTES_PER_DAY;
  return second === 60 && utc === MINUTES_PER_DAY - 1;
}

/** `date-time` of RFC 3339, also with a space instead of the `T`. */
export function isDateTime(text: string): boolean {
  const [date = '', time = '', ...more] = text.split(/[t\s]/i);
  return more.length === 0 && isDate(date) && isTime(time);
}
