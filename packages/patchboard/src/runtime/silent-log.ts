import type { Log } from '../core/ports.ts';

/** For embedders that want no log. */
export const SILENT_LOG: Log = { info: () => {}, warn: () => {}, error: () => {} };
