import { describe, expect, it, vi } from 'vitest';
import { connectDevice } from './device.ts';
import type { DeviceOptions } from './device-options.ts';
import type { SocketLike } from './device-socket.ts';
import { deviceTool } from './device-tool.ts';
import type { ClientClock } from '../http/runtime.ts';

/** A clock that advances only on request and records its timers. */
class ManualClock implements ClientClock {
  #now = 0;
  #timers: { at: number; action: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { at: this.#now + ms, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Milliseconds until the next timer fires. */
  get next(): number {
    return Math.min(...this.#timers.map(({ at }) => at)) - this.#now;
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const [due] = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (due === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = due.at;
      due.action();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

/** A socket whose server side is controlled by the test. */
class FakeSocket implements SocketLike {
  onopen: SocketLike['onopen'] = null;
  onmessage: SocketLike['onmessage'] = null;
  onclose: SocketLike['onclose'] = null;
  onerror: SocketLike['onerror'] = null;
  readonly sent: { type: string; [member: string]: unknown }[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text) as { type: string });
  }

  close(): void {
    // The test closes the server side itself.
  }

  says(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  welcome({ resumed = false, graceMs = 10_000 } = {}): void {
    this.onopen?.(undefined as never);
    const fixed = {
      protocol: 1,
      session: 's',
      client_id: 'c',
      name: 'n',
      max_frame_bytes: 1000,
      grace_ms: graceMs,
    };
    this.says({ type: 'welcome', ...fixed, resume_token: 'token', resumed, heartbeat_ms: 5000 });
  }

  register(): void {
    this.says({ type: 'tools_registered', count: 1, registered: 1, rejected: [] });
  }

  drop(): void {
    this.onclose?.({ code: 1006, reason: '' });
  }

  typed(type: string): { type: string; [member: string]: unknown }[] {
    return this.sent.filter((frame) => frame.type === type);
  }
}

function aDevice(given: DeviceOptions = {}) {
  const clock = new ManualClock();
  const sockets: FakeSocket[] = [];
  const device = connectDevice('http://server.example', {
    clock,
    // No jitter: the test checks how the delay grows.
    random: () => 1,
    socket: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    ...given,
  });
  const latest = (): FakeSocket => sockets.at(-1)!;
  return { device, clock, sockets, latest };
}

const REQUEST = {
  type: 'tool_call_request',
  id: 'tc_1:1.x',
  name: 'work',
  args: {},
  attempt: 1,
  deadline_at: '2026-01-01T00:00:00.000Z',
};

describe('a device that is cut off', () => {
  it('backs off exponentially, and resets the delay only after a stable connection', async () => {
    const { clock, sockets, latest } = aDevice();
    await settled();
    const pauses: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      latest().welcome();
      latest().register();
      latest().drop();
      pauses.push(clock.next);
      await clock.advance(clock.next);
      expect(sockets).toHaveLength(round + 2);
    }
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000]);
    latest().welcome();
    latest().register();
    for (let beat = 0; beat < 8; beat += 1) {
      await clock.advance(4000);
      latest().says({ type: 'pong' });
    }
    latest().drop();
    expect(clock.next).toBe(250);
  });

  it('limits its delay to the grace period of the server unless maxDelayMs is set', async () => {
    const longest = async (given: DeviceOptions, graceMs: number): Promise<number> => {
      const { clock, latest } = aDevice(given);
      await settled();
      latest().welcome({ graceMs });
      latest().register();
      latest().drop();
      const pauses: number[] = [];
      for (let failure = 0; failure < 12; failure += 1) {
        pauses.push(clock.next);
        await clock.advance(clock.next);
        latest().drop();
      }
      return Math.max(...pauses);
    };
    expect(await longest({}, 10_000)).toBe(10_000);
    expect(await longest({}, 700)).toBe(700);
    expect(await longest({}, 1)).toBe(250);
    expect(await longest({ retry: { maxDelayMs: 60_000 } }, 700)).toBe(60_000);
  });

  it('closes a connection on which heartbeats stop, or the registration is not confirmed', async () => {
    const { clock, sockets, latest, device } = aDevice({ openTimeoutMs: 1000 });
    await settled();
    await clock.advance(1000);
    expect(device.state).toBe('waiting');
    await clock.advance(clock.next);
    latest().welcome();
    expect(device.state).toBe('connecting');
    // The timeout doubled, because the last attempt timed out.
    await clock.advance(1999);
    expect(device.state).toBe('connecting');
    await clock.advance(1);
    expect(device.state).toBe('waiting');
    await clock.advance(clock.next);
    latest().welcome();
    latest().register();
    expect(device.state).toBe('online');
    await clock.advance(20_000);
    expect(device.state).not.toBe('online');
    expect(sockets.some((socket) => socket.typed('ping').length > 0)).toBe(true);
  });
});

describe('a result', () => {
  it('is sent again over each new connection until it is acknowledged, and its call runs once', async () => {
    const run = vi.fn(() => 'done');
    const fates: unknown[] = [];
    const { clock, latest, device } = aDevice({
      tools: [deviceTool({ name: 'work', run })],
      onResult: (fate) => fates.push(fate),
    });
    await settled();
    latest().welcome();
    latest().register();
    latest().says(REQUEST);
    await settled();
    expect(latest().typed('tool_result')).toHaveLength(1);
    latest().drop();
    await clock.advance(clock.next);
    latest().welcome({ resumed: true });
    expect(latest().typed('hello')[0]).toMatchObject({ resume: 'token', holding: ['tc_1:1.x'] });
    expect(latest().typed('tool_result')).toMatchObject([{ id: 'tc_1:1.x', output: 'done', success: true }]);
    latest().register();
    // The server did not receive it and repeats the request: the stored result is sent, nothing runs.
    latest().says(REQUEST);
    await settled();
    expect(latest().typed('tool_result')).toHaveLength(2);
    expect(device.unacknowledged).toBe(1);
    latest().says({ type: 'result_acknowledged', id: 'tc_1:1.x', accepted: true });
    await settled();
    expect(device.unacknowledged).toBe(0);
    expect(fates).toEqual([{ id: 'tc_1:1.x', accepted: true, reason: null }]);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('that could not be stored is sent again a second later', async () => {
    const { clock, latest } = aDevice({ tools: [deviceTool({ name: 'work', run: () => 1 })] });
    await settled();
    latest().welcome();
    latest().register();
    latest().says(REQUEST);
    await settled();
    latest().says({ type: 'error', code: 'storage_full', message: 'no room', id: 'tc_1:1.x' });
    await clock.advance(1000);
    expect(latest().typed('tool_result')).toHaveLength(2);
  });

  it('is dropped when the call is cancelled; a failing outbox storage is reported and has no other effect', async () => {
    const problems: string[] = [];
    const broken = (): never => {
      throw new Error('disk on fire');
    };
    const { latest, device } = aDevice({
      tools: [
        deviceTool<{ wait?: boolean }>({
          name: 'work',
          run: async ({ wait }, { signal }) => {
            if (wait === true) await new Promise((resolve) => signal.addEventListener('abort', resolve));
            return 1;
          },
        }),
      ],
      outbox: { load: broken, put: broken, delete: broken },
      onProblem: ({ kind, message }) => problems.push(`${kind}: ${message}`),
    });
    await settled();
    latest().welcome();
    latest().register();
    latest().says({ ...REQUEST, args: { wait: true } });
    await settled();
    latest().says({ type: 'cancel', id: 'tc_1:1.x', reason: 'timeout' });
    await settled();
    expect(latest().typed('tool_result')).toEqual([]);
    latest().says({ ...REQUEST, id: 'tc_2:1.x' });
    await settled();
    expect(latest().typed('tool_result')).toHaveLength(1);
    expect(problems).toEqual(['outbox: Error: disk on fire', 'outbox: Error: disk on fire']);
    await device.close();
    expect(device.state).toBe('closed');
  });
});

describe('a device whose listeners throw', () => {
  it('reconnects and registers all the same, and does not hide what they throw', async () => {
    const fail = (): never => {
      throw new Error('of the listener');
    };
    const { clock, device, sockets, latest } = aDevice({ onState: fail, onProblem: fail, onResult: fail });
    await settled();
    latest().welcome();
    latest().register();
    expect(device.state).toBe('online');
    latest().drop();
    expect(device.state).toBe('waiting');
    // Of onState for `online`, of onProblem, and of onState for `waiting`.
    for (let thrown = 0; thrown < 3; thrown += 1)
      await expect(clock.advance(0)).rejects.toThrow('of the listener');
    // Of onState for `connecting`.
    await expect(clock.advance(clock.next)).rejects.toThrow('of the listener');
    expect(sockets).toHaveLength(2);
    latest().welcome();
    latest().register();
    latest().says({ type: 'result_acknowledged', id: 'r', accepted: true });
    expect(device.state).toBe('online');
    await device.close();
  });
});
