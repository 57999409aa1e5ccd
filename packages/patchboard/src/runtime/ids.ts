import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock, Ids } from '../core/ports.ts';

/** Crockford's alphabet in lower case: sorts like the numbers it writes, and has no letter that reads as a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const COUNTER_CHARACTERS = 4;
const COUNTER_LIMIT = 32 ** COUNTER_CHARACTERS;
const RANDOM_CHARACTERS = 12;
const POOL_BYTES = 4096;

/**
 * 26 characters: milliseconds, a counter within the millisecond, 60 random bits. Later ids sort later, also when the
 * wall clock steps back, because time never runs backwards here.
 */
export function timeOrderedIds(clock: Pick<Clock, 'now'>): Ids {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let lastMs = 0;
  let counter = 0;
  let timeText = '';

  function randomText(): string {
    if (used + RANDOM_CHARACTERS > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    let text = '';
    for (const byte of pool.subarray(used, used + RANDOM_CHARACTERS)) text += ALPHABET.charAt(byte & 31);
    used += RANDOM_CHARACTERS;
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
    secret: (bits) => randomBytes(bits / 8).toString('base64url'),
    random: () => Math.random(),
  };
}

function encode(value: number, characters: number): string {
  let text = '';
  let rest = value;
  for (let index = 0; index < characters; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
