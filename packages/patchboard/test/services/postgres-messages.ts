/** A message of PostgreSQL's protocol, version 3. */
export interface ProtocolMessage {
  /** Its first byte, such as `Q` (query) or `C` (command complete); empty for what a client sends before it is logged in. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Of a request: the text of the statement that it parses, binds or executes. Of a reply: the tag of `C`, such as `COMMIT`. */
  readonly text: string;
}

const LENGTH_BYTES = 4;
const ENCRYPTION_REQUESTS = new Set([80_877_103, 80_877_104]);
const CANCEL_REQUEST = 80_877_102;

/** Cuts a stream into whole messages; the rest is kept for the next chunk. */
class MessageReader {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
  }

  /** `typed`: the length is after a type byte. */
  next(typed: boolean): Buffer | undefined {
    const head = typed ? 1 : 0;
    if (this.#rest.length < head + LENGTH_BYTES) return undefined;
    return this.take(head + this.#rest.readUInt32BE(head));
  }

  take(length: number): Buffer | undefined {
    if (this.#rest.length < length) return undefined;
    const bytes = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return bytes;
  }
}

/** The requests of one connection. Follows prepared statements and portals, so that an execution is known by its text. */
export class RequestReader {
  readonly #reader = new MessageReader();
  readonly #statements = new Map<string, string>();
  readonly #portals = new Map<string, string>();
  #isLoggedIn = false;
  /** Replies of one byte without a length that are due: one for each request for encryption. */
  dueBytes = 0;

  *read(chunk: Buffer): Generator<ProtocolMessage> {
    this.#reader.push(chunk);
    for (;;) {
      const bytes = this.#reader.next(this.#isLoggedIn);
      if (bytes === undefined) return;
      yield this.#isLoggedIn ? this.#request(bytes) : this.#startup(bytes);
    }
  }

  #startup(bytes: Buffer): ProtocolMessage {
    const code = bytes.readUInt32BE(LENGTH_BYTES);
    if (ENCRYPTION_REQUESTS.has(code)) this.dueBytes += 1;
    else if (code !== CANCEL_REQUEST) this.#isLoggedIn = true;
    return { type: '', bytes, text: '' };
  }

  #request(bytes: Buffer): ProtocolMessage {
    const type = String.fromCharCode(bytes[0] ?? 0);
    const [first = '', second = ''] = stringsOf(bytes);
    return { type, bytes, text: this.#textOf(type, first, second) };
  }

  #textOf(type: string, first: string, second: string): string {
    switch (type) {
      case 'Q':
        return first;
      case 'P':
        this.#statements.set(first, second);
        return second;
      case 'B': {
        const text = this.#statements.get(second) ?? '';
        this.#portals.set(first, text);
        return text;
      }
      case 'E':
        return this.#portals.get(first) ?? '';
      default:
        return '';
    }
  }
}

/** The replies of one connection. */
export class ReplyReader {
  readonly #reader = new MessageReader();
  readonly #requests: RequestReader;

  constructor(requests: RequestReader) {
    this.#requests = requests;
  }

  *read(chunk: Buffer): Generator<ProtocolMessage> {
    this.#reader.push(chunk);
    for (;;) {
      const isByte = this.#requests.dueBytes > 0;
      const bytes = isByte ? this.#reader.take(1) : this.#reader.next(true);
      if (bytes === undefined) return;
      if (isByte) this.#requests.dueBytes -= 1;
      const type = String.fromCharCode(bytes[0] ?? 0);
      yield { type, bytes, text: !isByte && type === 'C' ? (stringsOf(bytes)[0] ?? '') : '' };
    }
  }
}

/** The first two strings, which end with a zero byte, after type and length. */
function stringsOf(bytes: Buffer): string[] {
  const found: string[] = [];
  let from = 1 + LENGTH_BYTES;
  while (found.length < 2) {
    const to = bytes.indexOf(0, from);
    if (to === -1) break;
    found.push(bytes.toString('utf8', from, to));
    from = to + 1;
  }
  return found;
}
