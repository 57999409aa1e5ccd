import { describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../core/failures.ts';
import { StoreRefused, StoreUnreachable } from '../store/store-refused.ts';
import { isStoreAway } from './await-store.ts';

describe('a start that failed', () => {
  it.each([
    [
      'the database cannot be reached',
      new StoreUnreachable('the database', 'cannot be reached', 'start it'),
      true,
    ],
    ['the store became unavailable', new StorageUnavailable('no connection'), true],
    ['the connection was reset', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), true],
    ['the database was shut down', Object.assign(new Error('terminating'), { code: '57P01' }), true],
    ['the schema is too new', new StoreRefused('the database', 'has a newer schema', 'update'), false],
    ['the port is in use', Object.assign(new Error('listen'), { code: 'EADDRINUSE' }), false],
  ])('is repeated only if the database was away: %s', (_case, error, isAway) => {
    expect(isStoreAway(error)).toBe(isAway);
  });
});
