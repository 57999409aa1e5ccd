import type { GatewayFrame } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { DeviceInputs, type RequestInput } from './device-inputs.ts';

type ErrorFrame = Extract<GatewayFrame, { type: 'error' }>;

const ID = 'tc_1:1.fence';
const DEADLINE = '2026-01-01T00:00:30.000Z';

function asking(maxBytes = 1000) {
  const sent: { key: string; message: string }[] = [];
  const deadlines: Date[] = [];
  const stop = new AbortController();
  const inputs = new DeviceInputs(
    (frame) => void sent.push(JSON.parse(frame) as { key: string; message: string }),
    () => maxBytes,
  );
  const ask: RequestInput = inputs.forRequest(ID, stop.signal, (at) => void deadlines.push(at));
  return { inputs, ask, sent, deadlines, stop };
}

function response(key: string, content: unknown): Extract<GatewayFrame, { type: 'input_response' }> {
  const more = { input_request_id: 'in_1', action: 'accept', deadline_at: DEADLINE } as const;
  return { type: 'input_response', id: ID, key, content, ...more };
}

function error(code: string, failureCode: ErrorFrame['failure_code']): ErrorFrame {
  return { type: 'error', id: ID, code, failure_code: failureCode, message: 'no' };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

describe('input requests of a device', () => {
  it('are sent one after the other, and again after a reconnect until there is a response', async () => {
    const { inputs, ask, sent, deadlines } = asking();
    const first = ask({ message: 'a' });
    const second = ask({ message: 'b' });
    await settled();
    expect(sent).toMatchObject([{ key: '1', message: 'a' }]);
    expect(inputs.frames().map((text) => JSON.parse(text) as unknown)).toEqual(sent);
    inputs.responded(response('1', 'A'));
    expect(await first).toBe('A');
    // Sent again by the server after a reconnect: it is not the response to the next request.
    await settled();
    inputs.responded(response('1', 'A'));
    expect(sent).toHaveLength(2);
    inputs.responded(response('2', 'B'));
    expect(await second).toBe('B');
    expect(deadlines).toEqual([new Date(DEADLINE), new Date(DEADLINE)]);
    expect(inputs.frames()).toEqual([]);
  });

  it('reject with the failure of the server, and ask again after one that is not final', async () => {
    const { inputs, ask, sent } = asking();
    const asked = ask({ message: 'a' });
    await settled();
    expect(inputs.failed(error('storage_full', 'storage_full'))).toBe(true);
    inputs.resend(ID);
    expect(sent).toHaveLength(2);
    const refused = { id: ID, key: '1', failure_code: 'input_unavailable', message: 'no' } as const;
    inputs.refused({ type: 'input_refused', ...refused });
    await expect(asked).rejects.toMatchObject({ code: 'input_unavailable', message: 'no' });
    expect(inputs.failed(error('storage_full', 'storage_full'))).toBe(false);
  });

  it.each([
    ['UNKNOWN_MESSAGE_TYPE', 'input_unavailable'],
    ['body_invalid', 'body_invalid'],
  ])('reject after the error %s', async (code, expected) => {
    const { inputs, ask } = asking();
    const asked = ask({ message: 'a' });
    await settled();
    expect(inputs.failed(error(code, 'body_invalid'))).toBe(false);
    await expect(asked).rejects.toMatchObject({ code: expected });
  });

  it('reject when the call ends, and if they are too large to be sent', async () => {
    const { inputs, ask, sent, stop } = asking(100);
    await expect(ask({ message: 'é'.repeat(60) })).rejects.toMatchObject({ code: 'too_large' });
    const asked = ask({ message: 'a' });
    await settled();
    stop.abort(new Error('input_expired'));
    await expect(asked).rejects.toThrow('input_expired');
    await expect(ask({ message: 'b' })).rejects.toThrow('input_expired');
    expect(sent).toHaveLength(1);
    expect(inputs.frames()).toEqual([]);
  });
});
