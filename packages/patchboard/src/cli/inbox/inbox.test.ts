import { PatchboardError, type Decision, type PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView, CallView, StreamEvent } from '@patchboard/wire';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { VirtualScreen } from '../../../test/support/virtual-screen.ts';
import type { Key } from './keys.ts';
import { runInbox } from './run.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');

function aRequest(no: number, given: Partial<ApprovalRequestView> = {}): ApprovalRequestView {
  return {
    tool_call_id: `tc_${no}`,
    run_id: 'run_1',
    agent_id: 'researcher',
    tool_name: `demo.pay${no}`,
    tool_version: 'v1',
    description: 'Pays.',
    annotations: { destructive: true },
    args: { cents: no },
    reason: 'the tool is destructive',
    rule: 'annotations',
    meta: null,
    digest: `digest ${no}`,
    created_at: new Date(START).toISOString(),
    expires_at: new Date(START + no * 60_000).toISOString(),
    ...given,
  };
}

/** A terminal, a server and a person at the keys. */
class Desk {
  readonly screen: VirtualScreen = new VirtualScreen(80);
  readonly decisions: [id: string, decision: Decision][] = [];
  waiting: ApprovalRequestView[] = [];
  refusal: Error | null = null;
  reading: Error | null = null;
  edited: string | null = null;
  offeredToEdit = '';
  size = { columns: 80, rows: 24 };
  written = '';
  now = START;
  isEntered = false;
  #key: (key: Key) => void = () => undefined;
  #signal: (signal: NodeJS.Signals) => void = () => undefined;
  #resize: () => void = () => undefined;
  #ticks = new Set<() => void>();
  #events: ((event: StreamEvent) => void) | null = null;

  readonly client = {
    approvals: () => ({
      page: () => Promise.reject(new Error('not used')),
      [Symbol.asyncIterator]: async function* (this: void): AsyncGenerator<ApprovalRequestView> {
        yield* await desk.read();
      },
    }),
    decide: (id: string, decision: Decision): Promise<CallView> => {
      if (this.refusal !== null) return Promise.reject(this.refusal);
      this.decisions.push([id, decision]);
      this.waiting = this.waiting.filter((item) => item.tool_call_id !== id);
      return Promise.resolve({} as CallView);
    },
    events: ({ signal }: { signal?: AbortSignal } = {}) => this.#stream(signal!),
  } as unknown as Pick<PatchboardClient, 'approvals' | 'decide' | 'events'>;

  read(): Promise<ApprovalRequestView[]> {
    return this.reading === null ? Promise.resolve(this.waiting) : Promise.reject(this.reading);
  }

  open(): Promise<NodeJS.Signals | null> {
    return runInbox({
      client: this.client,
      where: 'http://board.test',
      paint: (_colour, text) => text,
      now: () => this.now,
      every: (_ms, action) => {
        this.#ticks.add(action);
        return () => this.#ticks.delete(action);
      },
      edit: (text) => {
        expect(this.isEntered).toBe(false);
        this.offeredToEdit = text;
        return Promise.resolve(this.edited);
      },
      terminal: {
        size: () => this.size,
        write: (text) => {
          this.written += text;
          this.screen.write(text);
        },
        enter: () => void (this.isEntered = true),
        leave: () => void (this.isEntered = false),
        onKey: (listener) => this.#set(() => (this.#key = listener)),
        onResize: (listener) => this.#set(() => (this.#resize = listener)),
        onSignal: (listener) => this.#set(() => (this.#signal = listener)),
      },
    });
  }

  press(...names: string[]): void {
    for (const name of names) this.#key({ name, sequence: name.length === 1 ? name : '' });
  }

  type(text: string): void {
    for (const sequence of text) this.#key({ sequence, name: sequence === ' ' ? 'space' : sequence });
  }

  signal(name: NodeJS.Signals): void {
    this.#signal(name);
  }

  resize(columns: number, rows: number): void {
    this.size = { columns, rows };
    this.#resize();
  }

  pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 1000) {
      this.now += 1000;
      for (const tick of this.#ticks) tick();
    }
  }

  tell(type: string, id: string): void {
    this.#events?.({ id: '1', type, data: { tool_call_id: id } });
  }

  shows(text: string): Promise<void> {
    return vi.waitFor(() => expect(this.screen.text()).toContain(text));
  }

  #set(action: () => void): () => void {
    action();
    return () => undefined;
  }

  async *#stream(signal: AbortSignal): AsyncGenerator<StreamEvent> {
    while (!signal.aborted) {
      yield await new Promise<StreamEvent>((resolve, reject) => {
        this.#events = resolve;
        signal.addEventListener('abort', () => reject(new Error('over')), { once: true });
      });
    }
  }
}

let desk: Desk;

beforeEach(() => {
  desk = new Desk();
});

describe('the inbox', () => {
  it('shows exactly what will run, and approves that', async () => {
    desk.waiting = [aRequest(2, { args: { to: 'a\u001b[2J\u202e', cents: 2 } }), aRequest(1)];
    const done = desk.open();
    await desk.shows('2 waiting');
    expect(desk.screen.lines()[1]).toBe('▸      1:00  demo.pay1  researcher');
    desk.press('j');
    await desk.shows('"to": "a\\u001b[2J\\u202e"');
    desk.press('a');
    await desk.shows('approved demo.pay2 tc_2');
    expect(desk.decisions).toEqual([['tc_2', { decision: 'allow', digest: 'digest 2' }]]);
    expect(desk.screen.text()).toContain('1 waiting');
    desk.press('q');
    expect(await done).toBe(null);
    expect(desk.isEntered).toBe(false);
  });

  it('denies with a reason that is typed, or thinks better of it', async () => {
    desk.waiting = [aRequest(1)];
    const done = desk.open();
    await desk.shows('demo.pay1');
    desk.press('d');
    desk.type('nope');
    await desk.shows('Why not? nope');
    desk.press('escape', 'd');
    desk.type('ask me 明天x');
    desk.press('backspace');
    desk.type(' ');
    desk.press('return');
    await desk.shows('denied demo.pay1');
    expect(desk.decisions).toEqual([['tc_1', { decision: 'deny', digest: 'digest 1', note: 'ask me 明天' }]]);
    desk.press('q');
    await done;
  });

  it('shows what was edited before it runs', async () => {
    desk.waiting = [aRequest(1)];
    const done = desk.open();
    await desk.shows('demo.pay1');
    desk.edited = '{"cents": 1';
    desk.press('e');
    await desk.shows('not JSON');
    desk.edited = '{"cents": 5}';
    desk.press('e');
    await desk.shows('as you changed them');
    expect(desk.offeredToEdit).toBe('{"cents": 1');
    expect(desk.screen.text()).toContain('-   "cents": 1\n+   "cents": 5');
    desk.press('n');
    await desk.shows('nothing decided');
    desk.press('e');
    await desk.shows('as you changed them');
    desk.press('y');
    await desk.shows('approved demo.pay1');
    expect(desk.decisions).toEqual([['tc_1', { decision: 'allow', digest: 'digest 1', args: { cents: 5 } }]]);
    desk.press('q');
    await done;
  });

  it('says so when nothing was edited, or the editor gave up', async () => {
    desk.waiting = [aRequest(1)];
    const done = desk.open();
    await desk.shows('demo.pay1');
    desk.edited = '{ "cents":1 }';
    desk.press('e');
    await desk.shows('nothing changed');
    desk.edited = null;
    desk.press('e');
    await desk.shows('the editor gave up');
    expect(desk.decisions).toEqual([]);
    desk.press('q');
    await done;
  });

  it('counts down and follows what happens elsewhere', async () => {
    const done = desk.open();
    await desk.shows('Nothing waits for a decision');
    desk.waiting = [aRequest(10)];
    desk.tell('permission_required', 'tc_10');
    await desk.shows('10:00  demo.pay10');
    desk.pass(2000);
    await desk.shows('9:58  demo.pay10');
    desk.waiting = [];
    desk.tell('call.state', 'tc_10');
    await desk.shows('nothing waits');
    desk.press('q');
    await done;
  });

  it('keeps looking at the same request when others come and go', async () => {
    desk.waiting = [aRequest(1), aRequest(3)];
    const done = desk.open();
    await desk.shows('2 waiting');
    desk.press('j');
    desk.waiting = [aRequest(2), aRequest(3)];
    desk.press('r');
    await desk.shows('demo.pay2');
    expect(desk.screen.lines()[2]).toMatch(/^▸ .*demo\.pay3/);
    desk.press('a');
    await desk.shows('approved demo.pay3');
    desk.press('q');
    await done;
  });

  it('decides nothing in the moment after another request took the place', async () => {
    desk.waiting = [aRequest(1), aRequest(2)];
    const done = desk.open();
    await desk.shows('2 waiting');
    desk.waiting = [aRequest(2)];
    desk.tell('permission_decided', 'tc_1');
    await desk.shows('1 waiting');
    desk.press('a');
    await desk.shows('another request has just taken this place');
    expect(desk.decisions).toEqual([]);
    desk.pass(1000);
    desk.press('a');
    await desk.shows('approved demo.pay2');
    desk.press('q');
    await done;
  });

  it('approves only what has been on the screen to its end', async () => {
    desk.waiting = [aRequest(1, { args: { lines: Array.from({ length: 60 }, (_, index) => index) } })];
    const done = desk.open();
    await desk.shows('more lines: Space');
    desk.press('a');
    await desk.shows('there is more of it');
    desk.press('space');
    await desk.shows('more lines: Space');
    desk.press('end');
    await desk.shows('    59\n  ]\n}');
    desk.press('home', 'a');
    await desk.shows('approved demo.pay1');
    desk.press('q');
    await done;
  });

  it('goes back to the list when the request under decision is gone', async () => {
    desk.waiting = [aRequest(1)];
    const done = desk.open();
    await desk.shows('demo.pay1');
    desk.press('d');
    await desk.shows('Why not?');
    desk.waiting = [];
    desk.tell('call.state', 'tc_1');
    await desk.shows('tc_1 no longer waits');
    desk.press('return', 'q');
    await done;
    expect(desk.decisions).toEqual([]);
  });

  it('tells a refusal and goes on', async () => {
    desk.waiting = [aRequest(1)];
    desk.refusal = new PatchboardError('problem', 'call tc_1 does not wait for a decision', {
      code: 'conflict',
    });
    const done = desk.open();
    await desk.shows('demo.pay1');
    desk.press('a');
    await desk.shows('call tc_1 does not wait for a decision');
    desk.press('q');
    await done;
  });

  it('says that the server is away, and when it is back', async () => {
    desk.waiting = [aRequest(1)];
    const done = desk.open();
    await desk.shows('demo.pay1');
    desk.reading = new PatchboardError('network', 'gone', { code: 'network_error' });
    desk.press('r');
    await desk.shows('NOT REACHABLE');
    expect(desk.screen.text()).toContain('demo.pay1');
    desk.reading = null;
    desk.pass(10_000);
    await vi.waitFor(() => expect(desk.screen.text()).not.toContain('NOT REACHABLE'));
    desk.press('q');
    await done;
  });

  it('ends with the credential', async () => {
    const done = desk.open();
    await desk.shows('Nothing waits');
    desk.reading = new PatchboardError('problem', 'the key is not known', {
      code: 'auth_required',
      status: 401,
    });
    desk.press('r');
    await expect(done).rejects.toThrow('the key is not known');
    expect(desk.isEntered).toBe(false);
  });

  it('tells an error at the start before it takes the screen', async () => {
    desk.reading = new Error('no server');
    await expect(desk.open()).rejects.toThrow('no server');
    expect(desk.written).toBe('');
  });

  it('gives the terminal back on a signal', async () => {
    const done = desk.open();
    await desk.shows('Nothing waits');
    desk.signal('SIGTERM');
    expect(await done).toBe('SIGTERM');
    expect(desk.isEntered).toBe(false);
  });

  it('writes only what changed, and all of it after a resize', async () => {
    desk.waiting = [aRequest(10)];
    const done = desk.open();
    await desk.shows('10:00');
    desk.written = '';
    desk.pass(1000);
    await desk.shows('9:59');
    expect(desk.written).not.toContain('"cents"');
    expect(desk.written).not.toContain('\u001b[2J');
    desk.resize(40, 20);
    await desk.shows('"cents"');
    expect(desk.screen.lines().length).toBeLessThanOrEqual(20);
    for (const line of desk.screen.lines()) expect(line.length).toBeLessThanOrEqual(40);
    desk.press('q');
    await done;
  });
});
