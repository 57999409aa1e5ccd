import type { Log } from '../core/ports.ts';

/** A log that discards everything, for embedders. */
export const SILENT_LOG: Log = { info: () => {}, warn: () => {}, error: () => {} };
