import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../../runtime/digest.ts';
import { checkpointText, parseCheckpoint, writersHash } from './checkpoint.ts';

const HASH = nodeDigest.sha256('row');
const WRITERS = nodeDigest.sha256('writers');

describe('the text of a checkpoint', () => {
  it.each([
    [`12:${HASH}`, { seq: 12, hash: HASH, writers: null }],
    [`12:${HASH}:${WRITERS}`, { seq: 12, hash: HASH, writers: WRITERS }],
  ])('is read and written: %s', (text, checkpoint) => {
    expect(parseCheckpoint(text)).toEqual(checkpoint);
    expect(checkpointText(checkpoint)).toBe(text);
  });

  it.each([
    '',
    '12',
    HASH,
    `:${HASH}`,
    `-1:${HASH}`,
    `1.5:${HASH}`,
    `12 ${HASH}`,
    `12:${HASH.slice(1)}`,
    `12:${HASH.toUpperCase()}`,
    `12:${HASH}:`,
    `12:${HASH}:${WRITERS}:${WRITERS}`,
    `1234567890123456:${HASH}`,
  ])('is not "%s"', (text) => {
    expect(parseCheckpoint(text)).toBeNull();
  });
});

describe('the hash of the writers', () => {
  it('depends on each member of each writer, not on their order', () => {
    const [a, b] = [
      { writer: 1, no: 23, hash: HASH },
      { writer: 12, no: 3, hash: WRITERS },
    ];
    const hash = writersHash(nodeDigest, [a, b]);
    expect(writersHash(nodeDigest, [b, a])).toBe(hash);
    for (const other of [[a], [b], [a, { ...b, no: 4 }], [a, { ...b, writer: 2 }], [a, { ...b, hash: HASH }]])
      expect(writersHash(nodeDigest, other)).not.toBe(hash);
  });
});
