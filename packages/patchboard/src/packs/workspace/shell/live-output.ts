const PAUSE_MS = 100;
const MAX_CHARACTERS = 8000;

/** Hands output on a few times a second, the newest of it: an event for each line of a build would drown the rest. */
export class LiveOutput {
  readonly #tell: (data: { stream: string; text: string }) => void;
  readonly #waiting: Map<string, string> = new Map();
  #timer: NodeJS.Timeout | null = null;

  constructor(tell: (data: { stream: string; text: string }) => void) {
    this.#tell = tell;
  }

  push(stream: 'stdout' | 'stderr', text: string): void {
    const waiting = (this.#waiting.get(stream) ?? '') + text;
    this.#waiting.set(stream, waiting.slice(-MAX_CHARACTERS));
    this.#timer ??= setTimeout(() => this.flush(), PAUSE_MS);
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [stream, text] of this.#waiting) this.#tell({ stream, text });
    this.#waiting.clear();
  }
}
