import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const BUFFER_CHARACTERS = 32_768;
const FLUSH_EVERY_MS = 200;
/** A full pipe holds 64 KiB, so this is at most 6.4 MB per second to a reader that is always behind. */
const RETRY_MS = 10;
/** How long an exit waits for a reader that reads nothing. */
const STALLED_MS = 5000;

export interface LogLines extends DestinationStream {
  /** Writes every line before it returns, except to a reader that is gone or has read nothing for 5 seconds. */
  drain(): void;
}

/**
 * Writes lines to a file descriptor in batches: a write per line costs a busy server more than formatting the line. A line
 * waits for at most 200 ms, and an exit writes all of them. A kill -9 loses buffered lines; the ledger has their calls.
 *
 * Each write is synchronous. An exit could neither wait for an asynchronous one nor find out how much it has written.
 */
export function bufferedLines(fd: number): LogLines {
  const target = withoutBlocking(fd);
  let lines = '';
  /** The part of an earlier batch that a full pipe did not take. */
  let rest = Buffer.alloc(0);
  let isGone = false;
  let retry: NodeJS.Timeout | null = null;

  /** Returns whether some bytes were written or dropped: false if there are none, or if the pipe is full. */
  const writeSome = (): boolean => {
    if (rest.length === 0) {
      rest = Buffer.from(lines);
      lines = '';
    }
    if (rest.length === 0) return false;
    try {
      rest = rest.subarray(writeSync(target, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') return false;
      // A log that cannot be written, as on a full disk, must not end the server: its later lines are tried again.
      rest = Buffer.alloc(0);
      isGone = code === 'EPIPE';
    }
    return true;
  };
  const flush = (): void => {
    while (writeSome());
    if (rest.length > 0) retry ??= setTimeout(() => ((retry = null), flush()), RETRY_MS).unref();
  };
  const drain = (): void => {
    for (let waited = 0; waited < STALLED_MS; waited += RETRY_MS) {
      while (writeSome()) waited = 0;
      if (rest.length === 0) return;
      sleep(RETRY_MS);
    }
  };
  setInterval(flush, FLUSH_EVERY_MS).unref();
  process.once('exit', drain);
  return {
    write: (line) => {
      if (isGone) return;
      lines += line;
      if (lines.length >= BUFFER_CHARACTERS && retry === null) flush();
    },
    drain,
  };
}

/**
 * Opens a pipe once more, so that a write to a full one fails with EAGAIN and the event loop continues. The flag of the given
 * descriptor itself is shared with other processes. Writes to files do not wait for a reader; for sockets, and on systems
 * without `/proc`, there is no other descriptor, and a full one blocks as `process.stderr` does.
 */
function withoutBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd;
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
