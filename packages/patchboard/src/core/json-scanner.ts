import { KeyStack } from './json-key-stack.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LETTER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FIRST_SURROGATE = 0xd800;
const FIRST_LOW_SURROGATE = 0xdc00;
const LAST_SURROGATE = 0xdfff;
/** Every whole number of so many digits is exact. */
const SAFE_DIGITS = 15;

/** Thrown inside the scanner only: one exit from any depth of small functions, and free when nothing is wrong. */
class Refusal {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

/**
 * One pass over a JSON text, with a stack of its own instead of recursion. It accepts exactly the texts that
 * `JSON.parse` accepts, less the refusals described at `parseGuardedJson`.
 */
export class JsonScanner {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #maxValues: number;
  readonly #keys: KeyStack;
  /** What closes each open container. */
  readonly #open: number[] = [];
  #at = 0;
  #values = 0;
  #sawEscape = false;

  constructor(text: string, maxDepth: number, maxValues: number) {
    this.#text = text;
    this.#keys = new KeyStack(text);
    this.#maxDepth = maxDepth;
    this.#maxValues = maxValues;
  }

  /** Where the scan stands; after a refusal, what it is about. */
  get offset(): number {
    return this.#at;
  }

  scan(): string | null {
    try {
      do this.#value();
      while (this.#next());
      return null;
    } catch (error) {
      if (error instanceof Refusal) return error.problem;
      throw error;
    }
  }

  /** Reads up to the end of a scalar, or up to where the first member of a container starts. */
  #value(): void {
    for (;;) {
      const code = this.#skipSpace();
      this.#values += 1;
      if (this.#values > this.#maxValues) this.#refuse(`more than ${this.#maxValues} values`);
      if (code === QUOTE) return this.#string();
      if (code === OPEN_OBJECT) {
        if (!this.#openObject()) return;
      } else if (code === OPEN_ARRAY) {
        if (!this.#openArray()) return;
      } else {
        return this.#scalar(code);
      }
    }
  }

  /** After a value: closes what ends here. False at the end of the text, true where the next value starts. */
  #next(): boolean {
    for (;;) {
      const code = this.#skipSpace();
      const top = this.#open.length - 1;
      if (top < 0) {
        if (this.#at < this.#text.length) this.#unexpected('the end of the text');
        return false;
      }
      const closer = this.#open[top];
      if (code === COMMA) {
        this.#at += 1;
        if (closer === CLOSE_OBJECT) this.#key();
        return true;
      }
      if (code !== closer) this.#unexpected(closer === CLOSE_OBJECT ? '"," or "}"' : '"," or "]"');
      this.#pop();
    }
  }

  /** False if it is empty, and so already over. */
  #openObject(): boolean {
    this.#push(CLOSE_OBJECT);
    if (this.#skipSpace() === CLOSE_OBJECT) return this.#pop();
    this.#key();
    return true;
  }

  #openArray(): boolean {
    this.#push(CLOSE_ARRAY);
    return this.#skipSpace() === CLOSE_ARRAY ? this.#pop() : true;
  }

  #push(closer: number): void {
    if (this.#open.length >= this.#maxDepth) this.#refuse(`nested more than ${this.#maxDepth} deep`);
    this.#open.push(closer);
    this.#keys.open();
    this.#at += 1;
  }

  #pop(): false {
    this.#open.pop();
    this.#keys.close();
    this.#at += 1;
    return false;
  }

  #key(): void {
    if (this.#skipSpace() !== QUOTE) this.#unexpected('a key in double quotes');
    const start = this.#at;
    this.#sawEscape = false;
    this.#string();
    const problem = this.#keys.add(start + 1, this.#at - 1, this.#sawEscape);
    if (problem !== null) {
      this.#at = start;
      this.#refuse(problem);
    }
    if (this.#skipSpace() !== COLON) this.#unexpected('":"');
    this.#at += 1;
  }

  #string(): void {
    const text = this.#text;
    const end = text.length;
    let at = this.#at + 1;
    while (at < end) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return;
      }
      if (code === BACKSLASH) {
        at = this.#escape(at);
      } else if (code >= FIRST_SURROGATE && code <= LAST_SURROGATE) {
        this.#pair(at, code, text.charCodeAt(at + 1));
        at += 2;
      } else if (code < 0x20) {
        this.#at = at;
        this.#refuse('a control character in a string must be escaped');
      } else {
        at += 1;
      }
    }
    this.#at = end;
    this.#refuse('the text ends inside a string');
  }

  /** Answers where the escape at `at` ends. */
  #escape(at: number): number {
    this.#sawEscape = true;
    const code = this.#text.charCodeAt(at + 1);
    if (code !== LETTER_U) {
      if (!isSimpleEscape(code)) this.#badEscape(at);
      return at + 2;
    }
    const unit = this.#hex(at);
    if (unit < FIRST_SURROGATE || unit > LAST_SURROGATE) return at + 6;
    const paired = this.#text.charCodeAt(at + 6) === BACKSLASH && this.#text.charCodeAt(at + 7) === LETTER_U;
    this.#pair(at, unit, paired ? this.#hex(at + 6) : Number.NaN);
    return at + 12;
  }

  #hex(at: number): number {
    let unit = 0;
    for (let place = at + 2; place < at + 6; place += 1) {
      const digit = hexDigit(this.#text.charCodeAt(place));
      if (digit < 0) this.#badEscape(at);
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #pair(at: number, first: number, second: number): void {
    if (first < FIRST_LOW_SURROGATE && second >= FIRST_LOW_SURROGATE && second <= LAST_SURROGATE) return;
    this.#at = at;
    this.#refuse('half of a surrogate pair: it is no character, and cannot be stored as UTF-8');
  }

  #badEscape(at: number): never {
    this.#at = at;
    return this.#refuse(
      at + 1 < this.#text.length ? 'bad escape in a string' : 'the text ends inside a string',
    );
  }

  #scalar(code: number): void {
    if (code === MINUS || isDigit(code)) return this.#number();
    for (const word of ['true', 'false', 'null']) {
      if (word.charCodeAt(0) === code && this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return;
      }
    }
    this.#unexpected('a value');
  }

  #number(): void {
    const text = this.#text;
    const start = this.#at;
    const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
    const whole = this.#digits(first);
    if (whole > first + 1 && text.charCodeAt(first) === ZERO) {
      this.#refuse('a number must not start with 0');
    }
    let end = whole;
    if (text.charCodeAt(end) === DOT) end = this.#digits(end + 1);
    const hasExponent = (text.charCodeAt(end) | 0x20) === 0x65;
    if (hasExponent) {
      const sign = text.charCodeAt(end + 1);
      end = this.#digits(sign === MINUS || sign === 0x2b ? end + 2 : end + 1);
    }
    if (hasExponent || whole - first > SAFE_DIGITS)
      this.#checkExact(Number(text.slice(start, end)), hasExponent);
    this.#at = end;
  }

  #checkExact(value: number, hasExponent: boolean): void {
    if (!Number.isFinite(value)) this.#refuse('a number too large to hold: send it as a string');
    if (hasExponent || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return;
    this.#refuse('a whole number that would lose digits: send it as a string');
  }

  /** Answers where the digits from `at` end; at least one is needed. */
  #digits(at: number): number {
    let end = at;
    while (isDigit(this.#text.charCodeAt(end))) end += 1;
    if (end === at) {
      this.#at = Math.min(at, this.#text.length);
      this.#unexpected('a digit');
    }
    return end;
  }

  /** Answers the code at the first place that is not white space; NaN at the end. */
  #skipSpace(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code > 0x20 || !isSpace(code)) return code;
      this.#at += 1;
    }
  }

  #unexpected(wanted: string): never {
    if (this.#at >= this.#text.length) return this.#refuse(`the text ends where ${wanted} should be`);
    const found = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0xfffd);
    return this.#refuse(`${JSON.stringify(found)} where ${wanted} should be`);
  }

  #refuse(problem: string): never {
    throw new Refusal(problem);
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** One of `"\/bfnrt`. */
function isSimpleEscape(code: number): boolean {
  return code === QUOTE || code === BACKSLASH || code === 0x2f || SIMPLE_LETTERS.has(code);
}

const SIMPLE_LETTERS: ReadonlySet<number> = new Set([0x62, 0x66, 0x6e, 0x72, 0x74]);

function hexDigit(code: number): number {
  if (isDigit(code)) return code - ZERO;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}
