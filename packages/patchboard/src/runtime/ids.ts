import { randomFillSync } from 'node:crypto';
import type { Clock, Ids } from '../core/ports.ts';

/** Crockford's base 32 in lower case: text sorts like the numbers it encodes, and no letter looks like a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** The two characters of each 10-bit number: encoding by pairs takes half as many steps. */
const PAIRS: readonly string[] = Array.from({ length: 1024 }, (_, bits) => pair(bits));
const TIME_CHARACTERS = 10;
/** The latest time that an id can contain. */
const LAST_MS = 32 ** TIME_CHARACTERS - 1;
const COUNTER_CHARACTERS = 4;
const COUNTER_LIMIT = 32 ** COUNTER_CHARACTERS;
const RANDOM_PAIRS = 6;
const POOL_PAIRS = 2048;
const SECRETS_BYTES = 4096;

/** The source of the random parts of ids and secrets, and of jitter. */
export interface Randomness {
  /** Fills all bytes of the buffer. */
  fill(buffer: Uint8Array | Uint16Array): void;
  /** Returns a number of at least 0, below 1. */
  next(): number;
}

const SYSTEM_RANDOMNESS: Randomness = {
  fill: (buffer) => void randomFillSync(buffer),
  next: () => Math.random(),
};

/**
 * Ids of 26 characters: milliseconds, a counter within the millisecond, 60 random bits. Later ids sort later, also when
 * the wall clock steps back, because the time part never decreases.
 */
export function timeOrderedIds(clock: Pick<Clock, 'now'>, randomness: Randomness = SYSTEM_RANDOMNESS): Ids {
  const pool = new Uint16Array(POOL_PAIRS);
  let used = POOL_PAIRS;
  let lastMs = 0;
  let counter = 0;
  let timeText = '';

  function randomText(): string {
    if (used + RANDOM_PAIRS > POOL_PAIRS) {
      randomness.fill(pool);
      used = 0;
    }
    let text = '';
    for (const end = used + RANDOM_PAIRS; used < end; used += 1) text += PAIRS[(pool[used] ?? 0) & 1023];
    return text;
  }

  const secrets = Buffer.alloc(SECRETS_BYTES);
  let spent = SECRETS_BYTES;

  /** Each call to a client needs a secret, so random bytes are fetched in blocks; used bytes are overwritten. */
  function secret(bits: number): string {
    const end = spent + bits / 8;
    if (end > SECRETS_BYTES) {
      randomness.fill(secrets);
      spent = 0;
      return secret(bits);
    }
    const text = secrets.toString('base64url', spent, end);
    secrets.fill(0, spent, end);
    spent = end;
    return text;
  }

  return {
    next: (prefix) => {
      const now = clock.now();
      counter += 1;
      if (now > lastMs || counter >= COUNTER_LIMIT) {
        lastMs = Math.max(now, lastMs + 1);
        counter = 0;
        timeText = encode(lastMs, TIME_CHARACTERS);
      }
      return prefix + timeText + encode(counter, COUNTER_CHARACTERS) + randomText();
    },
    secret,
    random: () => randomness.next(),
  };
}

/** Returns the smallest text that the id of a call made at that time, or later, can have. */
export function firstCallIdAt(ms: number): string {
  return 'tc_' + encode(Math.min(Math.max(0, ms), LAST_MS), TIME_CHARACTERS);
}

function encode(value: number, characters: number): string {
  let text = '';
  let rest = value;
  for (let index = 0; index < characters; index += 2) {
    text = PAIRS[rest % 1024] + text;
    rest = Math.floor(rest / 1024);
  }
  return text;
}

function pair(bits: number): string {
  return ALPHABET.charAt(bits >> 5) + ALPHABET.charAt(bits & 31);
}
