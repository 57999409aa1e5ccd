import type { Log } from '../core/ports.ts';

/** The log of agents on a board without one: warnings become process warnings, which Node writes to stderr. */
export const WARNING_LOG: Log = {
  info: () => {},
  warn: (event, { message } = {}) =>
    process.emitWarning(typeof message === 'string' ? message : event, {
      type: 'PatchboardWarning',
      code: event,
    }),
  error: () => {},
};
