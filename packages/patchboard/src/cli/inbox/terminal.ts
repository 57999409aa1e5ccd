import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Key } from './keys.ts';
import type { Size } from './screen.ts';

/** A terminal with an alternate screen and raw keys between `enter` and `leave`. */
export interface InboxTerminal {
  size(): Size;
  write(text: string): void;
  enter(): void;
  /** Restores the terminal. Idempotent. */
  leave(): void;
  onKey(listener: (key: Key) => void): () => void;
  onResize(listener: () => void): () => void;
  onSignal(listener: (signal: NodeJS.Signals) => void): () => void;
}

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[2J';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export function processTerminal(input: ReadStream, output: WriteStream): InboxTerminal {
  let entered = false;
  const leave = (): void => {
    if (!entered) return;
    entered = false;
    input.setRawMode(false);
    input.pause();
    output.write(LEAVE);
    process.off('exit', leave);
  };
  emitKeypressEvents(input);
  return {
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    write: (text) => void output.write(text),
    enter() {
      if (entered) return;
      entered = true;
      // Restores the terminal however the process ends.
      process.on('exit', leave);
      input.setRawMode(true);
      input.resume();
      output.write(ENTER);
    },
    leave,
    onKey(listener) {
      const onKeypress = (_text: string | undefined, key: Key): void => listener(key);
      input.on('keypress', onKeypress);
      return () => void input.off('keypress', onKeypress);
    },
    onResize(listener) {
      output.on('resize', listener);
      return () => void output.off('resize', listener);
    },
    onSignal(listener) {
      for (const signal of SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      };
    },
  };
}

/** Writes the changed lines in a single write, to avoid flicker. */
export class Painter {
  readonly #terminal: Pick<InboxTerminal, 'write'>;
  #shown: readonly string[] = [];

  constructor(terminal: Pick<InboxTerminal, 'write'>) {
    this.#terminal = terminal;
  }

  draw(lines: readonly string[]): void {
    let text = '';
    for (const [index, line] of lines.entries()) {
      // Erased before writing: after a line as wide as the screen, erasing would remove its last character.
      if (this.#shown[index] !== line) text += `\u001b[${index + 1};1H\u001b[0m\u001b[K${line}`;
    }
    if (lines.length < this.#shown.length) text += `\u001b[${lines.length + 1};1H\u001b[0m\u001b[J`;
    this.#shown = lines;
    // Synchronized output: supporting terminals show the update at once, others ignore both sequences.
    if (text !== '') this.#terminal.write(`\u001b[?2026h${text}\u001b[?2026l`);
  }

  /** Clears the screen, so that the next `draw` writes all lines. */
  forget(): void {
    this.#shown = [];
    this.#terminal.write('\u001b[0m\u001b[2J');
  }
}
