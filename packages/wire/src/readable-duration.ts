const MINUTE_S = 60;
const HOUR_MIN = 60;
const DAY_H = 24;

/** Formats a duration for people: `723 ms`, `1.25 s`, `12.3 s`, `5 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function readableDuration(ms: number): string {
  const whole = Math.round(ms);
  if (whole < 1000) return `${whole} ms`;
  // Rounded before the unit is chosen: 59.96 s is a minute, not 60.0 s.
  if (whole < 59_950) return `${secondsText(whole)} s`;
  const seconds = Math.round(whole / 1000);
  const minutes = Math.floor(seconds / MINUTE_S);
  if (minutes < HOUR_MIN) return `${minutes} min ${seconds % MINUTE_S} s`;
  const hours = Math.floor(minutes / HOUR_MIN);
  if (hours < 2 * DAY_H) return `${hours} h ${minutes % HOUR_MIN} min`;
  return `${Math.floor(hours / DAY_H)} d ${hours % DAY_H} h`;
}

/** Three digits, none after the point for whole seconds. */
function secondsText(ms: number): string {
  if (ms % 1000 === 0) return String(ms / 1000);
  return (ms / 1000).toFixed(ms < 9995 ? 2 : 1);
}
