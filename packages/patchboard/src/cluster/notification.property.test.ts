import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeNotification,
  encodeNotification,
  NOTIFICATION_BYTES,
  type Notification,
} from './notification.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
const count = fc.maxSafeNat();
const calls = fc.array(fc.tuple(name, count), { maxLength: 400 });
const tokens = fc
  .double({ min: 0, max: 1e6, noNaN: true })
  .map((value) => (Object.is(value, -0) ? 0 : value));

const notification: fc.Arbitrary<Notification> = fc.oneof(
  fc.record({ kind: fc.constantFrom('moved' as const, 'ended' as const), calls }),
  fc.record({
    kind: fc.constantFrom('grown' as const, 'work' as const, 'given' as const, 'leaving' as const),
  }),
  fc.record({
    kind: fc.constant('wake_client' as const),
    tenant: name,
    client: name,
    call: name,
    version: count,
  }),
  fc.record({ kind: fc.constant('session_taken' as const), session: name }),
  fc.record({ kind: fc.constant('run_cancelled' as const), tenant: name, run: name }),
  fc.record({ kind: fc.constant('config' as const), revision: count }),
  fc.record({ kind: fc.constant('signal' as const), topic: name, body: fc.string() }),
  fc.record({
    kind: fc.constant('rates' as const),
    spent: fc.array(fc.tuple(name, tokens), { maxLength: 400 }),
  }),
  fc.record({
    kind: fc.constant('transient' as const),
    tenant: name,
    event: fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value))),
  }),
);

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

/** The list of a notification that is split; null for one that is not. */
function listOf(given: Notification): readonly unknown[] | null {
  if (given.kind === 'rates') return given.spent;
  return given.kind === 'moved' || given.kind === 'ended' ? given.calls : null;
}

describe('a notification', () => {
  it('is the same after it was encoded and decoded, in texts shorter than the limit of NOTIFY', () => {
    fc.assert(
      fc.property(count, notification, (from, given) => {
        const texts = encodeNotification(from, given);
        expect(texts.map(bytesOf).filter((bytes) => bytes >= NOTIFICATION_BYTES)).toEqual([]);
        const read = texts.map((text) => {
          const decoded = decodeNotification(text);
          if (decoded.is !== 'valid') throw new Error(`${decoded.is}: ${text}`);
          expect(decoded.from).toBe(from);
          return decoded.notification;
        });
        const list = listOf(given);
        if (list === null) expect(read).toEqual([given]);
        else {
          expect(read.flatMap((part) => listOf(part) ?? [])).toEqual(list);
          expect(read.every((part) => part.kind === given.kind)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('fills each text before it begins another', () => {
    const many = Array.from({ length: 1000 }, (_, index) => [`tc_${index}`, 3] as const);
    const texts = encodeNotification(1, { kind: 'moved', calls: many });
    expect(texts.length).toBe(Math.ceil(texts.join('').length / NOTIFICATION_BYTES));
    expect(texts.length).toBeGreaterThan(1);
  });

  it('is left out if it is too long and cannot be split', () => {
    const long = 'x'.repeat(NOTIFICATION_BYTES);
    const kept = ['tc_1', 1] as const;
    expect(encodeNotification(1, { kind: 'transient', tenant: 'acme', event: long })).toEqual([]);
    expect(encodeNotification(1, { kind: 'moved', calls: [[long, 1], kept] })).toEqual([
      '{"from":1,"kind":"moved","calls":[["tc_1",1]]}',
    ]);
    expect(encodeNotification(1, { kind: 'ended', calls: [] })).toEqual([]);
  });
});

describe('decoding', () => {
  it('ignores a kind, and leaves out a member, of a later version', () => {
    expect(decodeNotification('{"from":1,"kind":"painted","colour":"red"}')).toEqual({ is: 'ignored' });
    expect(decodeNotification('{"from":1,"kind":"grown","by":3}')).toEqual({
      is: 'valid',
      notification: { kind: 'grown' },
      from: 1,
    });
  });

  it.each([
    ['', 'not JSON'],
    ['null', 'not an object'],
    ['[]', 'not an object'],
    ['{"kind":"grown"}', '"from"'],
    ['{"from":-1,"kind":"grown"}', '"from"'],
    ['{"from":"1","kind":"grown"}', '"from"'],
    ['{"from":1}', '"kind"'],
    ['{"from":1,"kind":"moved"}', '"moved"'],
    ['{"from":1,"kind":"moved","calls":{}}', '"moved"'],
    ['{"from":1,"kind":"moved","calls":["tc_1"]}', '"moved"'],
    ['{"from":1,"kind":"moved","calls":[["tc_1","2"]]}', '"moved"'],
    ['{"from":1,"kind":"ended","calls":[["",2]]}', '"ended"'],
    ['{"from":1,"kind":"ended","calls":[["tc_1",1.5]]}', '"ended"'],
    ['{"from":1,"kind":"rates","spent":[["a",-1]]}', '"rates"'],
    ['{"from":1,"kind":"rates","spent":[["a",1e999]]}', '"rates"'],
    ['{"from":1,"kind":"wake_client","tenant":"a","client":"b","version":1}', '"wake_client"'],
    ['{"from":1,"kind":"wake_client","tenant":"a","client":"b","call":"tc_1"}', '"wake_client"'],
    ['{"from":1,"kind":"session_taken"}', '"session_taken"'],
    ['{"from":1,"kind":"run_cancelled","tenant":"a"}', '"run_cancelled"'],
    ['{"from":1,"kind":"config","revision":"7"}', '"config"'],
    ['{"from":1,"kind":"transient","tenant":"a"}', '"transient"'],
    [`{"from":1,"kind":"grown","x":"${'x'.repeat(NOTIFICATION_BYTES)}"}`, 'longer than 7999 bytes'],
  ])('says what is wrong with %j', (text, problem) => {
    const decoded = decodeNotification(text);
    expect(decoded.is === 'invalid' ? decoded.problem : decoded).toContain(problem);
  });

  it('returns a result for any text', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ from: fc.anything(), kind: fc.anything() }).map((value) => {
        try {
          return JSON.stringify(value);
        } catch {
          return '';
        }
      }),
    );
    fc.assert(
      fc.property(text, (given) => {
        expect(['valid', 'ignored', 'invalid']).toContain(decodeNotification(given).is);
      }),
    );
  });
});
