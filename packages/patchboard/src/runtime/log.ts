import { pino, type DestinationStream } from 'pino';
import type { Log } from '../core/ports.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes one JSON line per event, with `event` and `timestamp`. */
export function pinoLog(level: LogLevel, destination: DestinationStream): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'event',
      timestamp: timestamps(),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    info: (event, fields = {}) => logger.info(fields, event),
    warn: (event, fields = {}) => logger.warn(fields, event),
    error: (event, fields = {}) => logger.error(fields, event),
  };
}

/** Formats the time once per millisecond: a busy server writes several lines in one. */
function timestamps(): () => string {
  let lastMs = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== lastMs) {
      lastMs = now;
      text = `,"timestamp":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
