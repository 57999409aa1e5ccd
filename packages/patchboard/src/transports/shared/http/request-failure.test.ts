import { errorCodes } from 'fastify';
import { describe, expect, it } from 'vitest';
import { requestFailure } from './request-failure.ts';

const REQUEST = { routeOptions: { bodyLimit: 1000 } } as Parameters<typeof requestFailure>[1];
const CODES = Object.keys(errorCodes) as (keyof typeof errorCodes)[];

/** Fastify gives these two the wrong status: the first is a server error, the second a client error. */
const BY_US = 'FST_ERR_CTP_INSTANCE_ALREADY_STARTED';
const BY_REQUEST = 'FST_ERR_ASYNC_CONSTRAINT';

describe('an error of Fastify', () => {
  it.each(CODES)('%s maps to a failure code, and its message is not sent', (code) => {
    const error = new errorCodes[code]('first', 'second', 'third');
    const failed = requestFailure(error, REQUEST);
    const isByRequest = code === BY_REQUEST || (error.statusCode !== 500 && code !== BY_US);
    // Null becomes `internal`, whose message is fixed.
    expect(failed !== null).toBe(isByRequest);
    expect(JSON.stringify(failed)).not.toMatch(/FST_|fastify|first/i);
  });
});

describe('an error of another library', () => {
  it('does not send its message either', () => {
    const error = Object.assign(new Error('inner words'), { code: 'SOME_ERR', statusCode: 418 });
    expect(requestFailure(error, REQUEST)).toMatchObject({ code: 'body_invalid' });
    expect(requestFailure(error, REQUEST)?.message).not.toContain('inner');
    expect(requestFailure(new Error('inner words'), REQUEST)).toBeNull();
  });
});
