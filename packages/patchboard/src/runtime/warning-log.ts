import type { Log } from '../core/ports.ts';

/** For agents on a board without a log: warnings go to the process, which writes them to stderr. */
export const WARNING_LOG: Log = {
  info: () => {},
  warn: (event, { message } = {}) =>
    process.emitWarning(typeof message === 'string' ? message : event, {
      type: 'PatchboardWarning',
      code: event,
    }),
  error: () => {},
};
