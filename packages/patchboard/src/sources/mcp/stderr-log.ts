import type { Clock, Log } from '../../core/ports.ts';
import { LineSplitter } from './line-splitter.ts';

/** The most bytes of a line that is read, and the most characters of it that are logged. */
const LINE_BYTES = 8_192;
const LOGGED_CHARACTERS = 2_000;
/** Token bucket: lines at once, and lines a second. */
const BURST = 100;
const PER_SECOND = 20;

export interface StderrLogOptions {
  readonly upstream: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Replaces secret values. */
  readonly mask: (text: string) => string;
}

/** Returns a function that logs the lines it receives, at a bounded rate. `dropped` counts the lines that were not logged before. */
export function stderrLog({ upstream, log, clock, mask }: StderrLogOptions): (chunk: Buffer) => void {
  let tokens = BURST;
  let filledAt = clock.elapsed();
  let dropped = 0;
  const write = (line: string): void => {
    const now = clock.elapsed();
    tokens = Math.min(BURST, tokens + ((now - filledAt) / 1_000) * PER_SECOND);
    filledAt = now;
    if (tokens < 1) {
      dropped += 1;
      return;
    }
    tokens -= 1;
    const text = mask(line).trimEnd().slice(0, LOGGED_CHARACTERS);
    log.info('upstream.stderr', { upstream, line: text, ...(dropped > 0 ? { dropped } : {}) });
    dropped = 0;
  };
  // Without its last word, which may be the beginning of a secret value.
  const lines = new LineSplitter(LINE_BYTES, write, ({ head }) => write(head.replace(/\S*$/, '…')));
  return (chunk) => lines.write(chunk);
}
