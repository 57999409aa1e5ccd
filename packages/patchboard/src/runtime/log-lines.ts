import { pino, type DestinationStream } from 'pino';

const BUFFER_CHARACTERS = 32_768;
const FLUSH_EVERY_MS = 200;

/**
 * Writes lines to a file descriptor in batches: a write per line costs a busy server more than formatting the line. A line
 * waits for at most 200 ms, and an exit flushes the buffer. A kill -9 loses buffered lines; the ledger has their calls.
 */
export function bufferedLines(fd: number): DestinationStream {
  const file = pino.destination({ fd, sync: false });
  let buffer = '';
  const flush = (): void => {
    if (buffer === '') return;
    const lines = buffer;
    buffer = '';
    file.write(lines);
  };
  setInterval(flush, FLUSH_EVERY_MS).unref();
  process.once('exit', () => {
    // Synchronous: an asynchronous write that starts now would not finish before the process ends.
    if (buffer !== '') pino.destination({ fd, sync: true }).write(buffer);
  });
  return {
    write: (line) => {
      buffer += line;
      if (buffer.length >= BUFFER_CHARACTERS) flush();
    },
  };
}
