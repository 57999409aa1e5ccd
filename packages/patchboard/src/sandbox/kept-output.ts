/** Keeps the beginning and the end of a stream in bounded memory. */
export class KeptOutput {
  readonly #head: Buffer;
  readonly #tail: Ring;
  #headBytes = 0;

  constructor(maxBytes: number) {
    this.#head = Buffer.allocUnsafe(Math.floor(maxBytes / 2));
    this.#tail = new Ring(maxBytes - this.#head.length);
  }

  get truncated(): boolean {
    return this.#tail.start > 0;
  }

  push(chunk: Buffer): void {
    const room = this.#head.length - this.#headBytes;
    const first = Math.min(room, chunk.length);
    chunk.copy(this.#head, this.#headBytes, 0, first);
    this.#headBytes += first;
    if (first < chunk.length) this.#tail.push(chunk.subarray(first));
  }

  /** Returns the kept text, with a line that states how many bytes are missing. */
  text(): string {
    const head = this.#head.subarray(0, this.#headBytes);
    const tail = this.#tail.from(0);
    if (!this.truncated) return Buffer.concat([head, tail.bytes]).toString('utf8');
    return `${head.toString('utf8')}\n[… ${tail.start} bytes left out …]\n${tail.bytes.toString('utf8')}`;
  }
}

/** Ring buffer with the last bytes of a stream and their offset. Grows as needed. */
export class Ring {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #end = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Offset of the first kept byte. */
  get start(): number {
    return Math.max(0, this.#end - this.#maxBytes);
  }

  /** Number of bytes of the stream so far. */
  get end(): number {
    return this.#end;
  }

  push(chunk: Buffer): void {
    const kept = chunk.length > this.#maxBytes ? chunk.subarray(chunk.length - this.#maxBytes) : chunk;
    this.#grow(Math.min(this.#maxBytes, this.#end + chunk.length));
    this.#end += chunk.length;
    const at = (this.#end - kept.length) % this.#maxBytes;
    const first = Math.min(kept.length, this.#maxBytes - at);
    kept.copy(this.#buffer, at, 0, first);
    kept.copy(this.#buffer, 0, first);
  }

  /** Returns the kept bytes from `offset` on; `start` is their actual offset. */
  from(offset: number): { readonly start: number; readonly bytes: Buffer } {
    const start = Math.min(Math.max(offset, this.start), this.#end);
    const length = this.#end - start;
    const at = start % this.#maxBytes;
    const first = Math.min(length, this.#maxBytes - at);
    const bytes = Buffer.concat([
      this.#buffer.subarray(at, at + first),
      this.#buffer.subarray(0, length - first),
    ]);
    return { start, bytes };
  }

  #grow(needed: number): void {
    if (this.#buffer.length >= needed) return;
    const size = Math.min(this.#maxBytes, Math.max(needed, this.#buffer.length * 2, 4096));
    const grown = Buffer.allocUnsafe(size);
    this.#buffer.copy(grown);
    this.#buffer = grown;
  }
}
