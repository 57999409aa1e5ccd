import { pino, type DestinationStream } from 'pino';

const BUFFER_CHARACTERS = 32_768;
const FLUSH_EVERY_MS = 200;

/**
 * JSON lines to a file descriptor, many in one write: a write per line costs a busy server more than the line itself,
 * and so does handing each line on. A line waits for a fifth of a second at most, and none is lost at an exit; what a
 * kill -9 takes is in the ledger.
 */
export function bufferedLines(fd: number): DestinationStream {
  const file = pino.destination({ fd, sync: false });
  let waiting = '';
  const handOn = (): void => {
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    file.write(lines);
  };
  setInterval(handOn, FLUSH_EVERY_MS).unref();
  process.once('exit', () => {
    // What it has begun to write it ends; what it would begin now, a thread that nobody waits for would write.
    if (waiting !== '') pino.destination({ fd, sync: true }).write(waiting);
  });
  return {
    write: (line) => {
      waiting += line;
      if (waiting.length >= BUFFER_CHARACTERS) handOn();
    },
  };
}
