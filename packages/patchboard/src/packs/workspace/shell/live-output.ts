const INTERVAL_MS = 100;
const MAX_CHARACTERS = 8000;

/** Emits the newest output a few times a second, because an event for each line would be too many. */
export class LiveOutput {
  readonly #emit: (data: { stream: string; text: string }) => void;
  readonly #buffers: Map<string, string> = new Map();
  #timer: NodeJS.Timeout | null = null;

  constructor(emit: (data: { stream: string; text: string }) => void) {
    this.#emit = emit;
  }

  push(stream: 'stdout' | 'stderr', text: string): void {
    const buffered = (this.#buffers.get(stream) ?? '') + text;
    this.#buffers.set(stream, buffered.slice(-MAX_CHARACTERS));
    this.#timer ??= setTimeout(() => this.flush(), INTERVAL_MS);
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [stream, text] of this.#buffers) this.#emit({ stream, text });
    this.#buffers.clear();
  }
}
