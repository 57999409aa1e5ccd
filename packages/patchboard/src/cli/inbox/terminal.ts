import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Key } from './keys.ts';
import type { Size } from './screen.ts';

/** A screen of its own and single keys, until it is left again. */
export interface InboxTerminal {
  size(): Size;
  write(text: string): void;
  enter(): void;
  /** Puts everything back as it was; harmless when it is so already. */
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
      // Whatever ends the process, a bug included, the terminal is given back.
      process.on('exit', leave);
      input.setRawMode(true);
      input.resume();
      output.write(ENTER);
    },
    leave,
    onKey(listener) {
      const tell = (_text: string | undefined, key: Key): void => listener(key);
      input.on('keypress', tell);
      return () => void input.off('keypress', tell);
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

/** Writes only the lines that changed, in one piece, so that nothing flickers. */
export class Painter {
  readonly #terminal: Pick<InboxTerminal, 'write'>;
  #shown: readonly string[] = [];

  constructor(terminal: Pick<InboxTerminal, 'write'>) {
    this.#terminal = terminal;
  }

  draw(lines: readonly string[]): void {
    let text = '';
    for (const [index, line] of lines.entries()) {
      // Erased first: after a line as wide as the screen, erasing would take its last character.
      if (this.#shown[index] !== line) text += `\u001b[${index + 1};1H\u001b[0m\u001b[K${line}`;
    }
    if (lines.length < this.#shown.length) text += `\u001b[${lines.length + 1};1H\u001b[0m\u001b[J`;
    this.#shown = lines;
    // Terminals that know it hold the update back until it is whole; the others skip both marks.
    if (text !== '') this.#terminal.write(`\u001b[?2026h${text}\u001b[?2026l`);
  }

  /** What is on the screen is no longer known. */
  forget(): void {
    this.#shown = [];
    this.#terminal.write('\u001b[0m\u001b[2J');
  }
}
