import type { BatchCallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { callsOfRequests, laterOutcome, outcomeOf } from './reply-calls.ts';

const call = (request: string, id: string | null, more: Partial<BatchCallView> = {}): BatchCallView => ({
  request_id: request,
  tool_call_id: id,
  tool_name: 'toy.echo',
  error: null,
  ...more,
});
const refused = (code: 'body_invalid' | 'tool_not_found'): Partial<BatchCallView> => ({
  error: { code, message: 'no such tool', retryable: false },
});
const request = (requestId: string): { requestId: string } => ({ requestId });

describe('the calls of the requests of a reply', () => {
  it('are found by id, and by order where an id repeats', () => {
    const calls = [call('b', 'tc_1'), call('a', 'tc_2'), call('a', null, refused('tool_not_found'))];
    expect(callsOfRequests([request('a'), request('b'), request('a'), request('c')], calls)).toEqual([
      calls[1],
      calls[0],
      calls[2],
      null,
    ]);
  });

  it('are not those of requests that could not be read', () => {
    const calls = [call('a', null, refused('body_invalid')), call('a', 'tc_1')];
    expect(callsOfRequests([request('a')], calls)).toEqual([calls[1]]);
  });
});

describe('what came of a request', () => {
  it('is the state of its call, with the result once it has ended', () => {
    expect(outcomeOf(call('a', 'tc_1', { state: 'COMPLETED', result: { n: 1 } }))).toEqual({
      id: 'tc_1',
      state: 'COMPLETED',
      result: '{"n":1}',
      refusal: null,
    });
    expect(outcomeOf(call('a', 'tc_1', { state: 'EXECUTING', result: null }))).toEqual({
      id: 'tc_1',
      state: 'EXECUTING',
      result: '',
      refusal: null,
    });
  });

  it('is why it was refused if it made no call', () => {
    const refusal = { code: 'tool_not_found' };
    expect(outcomeOf(call('a', null, refused('tool_not_found')))).toMatchObject({
      id: null,
      state: 'REFUSED',
      refusal,
    });
  });

  it('stays an end if an older state arrives late', () => {
    const ended = { id: 'tc_1', state: 'COMPLETED', result: '1', refusal: null };
    const open = { ...ended, state: 'EXECUTING', result: '' };
    expect(laterOutcome(open, ended)).toBe(ended);
    expect(laterOutcome(ended, open)).toBe(ended);
    expect(laterOutcome(ended, { ...open, id: 'tc_2' })).toEqual({ ...open, id: 'tc_2' });
    expect(laterOutcome(null, open)).toBe(open);
  });
});
