import { once } from 'node:events';
import { inBackground } from './stderr.mjs';

/** Writes messages to stdout, one per line. */
export class Output {
  /** @type {Promise<unknown> | null} */
  #draining = null;

  /** Resolves when stdout accepts more. */
  async write(text) {
    // In JSON, a line end can only stand between tokens.
    const line = /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
    if (process.stdout.write(`${line}\n`) || process.stdout.destroyed) return;
    this.#draining ??= once(process.stdout, 'drain').finally(() => (this.#draining = null));
    await this.#draining;
  }

  writeError(id, error) {
    inBackground(this.write(JSON.stringify({ jsonrpc: '2.0', id, error })));
  }

  /** Exits when everything is written. */
  exit(code) {
    if (process.stdout.destroyed || process.stdout.errored) process.exit(code);
    process.stdout.write('', () => process.exit(code));
  }
}
