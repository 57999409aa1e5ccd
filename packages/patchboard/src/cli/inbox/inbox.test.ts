import { PatchboardError, type Decision, type PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView, CallView, StreamEvent } from '@patchboard/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualScreen } from '../../../test/support/virtual-screen.ts';
import type { Key } from './keys.ts';
import { runInbox } from './run.ts';
import { waitFor } from '../../../test/support/wait-for.ts';

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

/** A fake terminal, server and user. */
class InboxHarness {
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
        yield* await inbox.read();
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

  emit(type: string, id: string): void {
    this.#events?.({ id: '1', type, data: { tool_call_id: id } });
  }

  shows(text: string): Promise<void> {
    return waitFor(() => expect(this.screen.text()).toContain(text));
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

let inbox: InboxHarness;

beforeEach(() => {
  inbox = new InboxHarness();
});

describe('the inbox', () => {
  it('shows exactly what will run, and approves that', async () => {
    inbox.waiting = [aRequest(2, { args: { to: 'a\u001b[2J\u202e', cents: 2 } }), aRequest(1)];
    const done = inbox.open();
    await inbox.shows('2 waiting');
    expect(inbox.screen.lines()[1]).toBe('▸      1:00  demo.pay1  researcher');
    inbox.press('j');
    await inbox.shows('"to": "a\\u001b[2J\\u202e"');
    inbox.press('a');
    await inbox.shows('approved demo.pay2 tc_2');
    expect(inbox.decisions).toEqual([['tc_2', { decision: 'allow', digest: 'digest 2' }]]);
    expect(inbox.screen.text()).toContain('1 waiting');
    inbox.press('q');
    expect(await done).toBe(null);
    expect(inbox.isEntered).toBe(false);
  });

  it('denies with a typed reason, and Esc goes back', async () => {
    inbox.waiting = [aRequest(1)];
    const done = inbox.open();
    await inbox.shows('demo.pay1');
    inbox.press('d');
    inbox.type('nope');
    await inbox.shows('Reason: nope');
    inbox.press('escape', 'd');
    inbox.type('ask me 明天x');
    inbox.press('backspace');
    inbox.type(' ');
    inbox.press('return');
    await inbox.shows('denied demo.pay1');
    expect(inbox.decisions).toEqual([
      ['tc_1', { decision: 'deny', digest: 'digest 1', note: 'ask me 明天' }],
    ]);
    inbox.press('q');
    await done;
  });

  it('shows edited arguments before they are approved', async () => {
    inbox.waiting = [aRequest(1)];
    const done = inbox.open();
    await inbox.shows('demo.pay1');
    inbox.edited = '{"cents": 1';
    inbox.press('e');
    await inbox.shows('not JSON');
    inbox.edited = '{"cents": 5}';
    inbox.press('e');
    await inbox.shows('as you changed them');
    expect(inbox.offeredToEdit).toBe('{"cents": 1');
    expect(inbox.screen.text()).toContain('-   "cents": 1\n+   "cents": 5');
    inbox.press('n');
    await inbox.shows('nothing decided');
    inbox.press('e');
    await inbox.shows('as you changed them');
    inbox.press('y');
    await inbox.shows('approved demo.pay1');
    expect(inbox.decisions).toEqual([
      ['tc_1', { decision: 'allow', digest: 'digest 1', args: { cents: 5 } }],
    ]);
    inbox.press('q');
    await done;
  });

  it('shows a message when nothing was edited, or the editor failed', async () => {
    inbox.waiting = [aRequest(1)];
    const done = inbox.open();
    await inbox.shows('demo.pay1');
    inbox.edited = '{ "cents":1 }';
    inbox.press('e');
    await inbox.shows('nothing changed');
    inbox.edited = null;
    inbox.press('e');
    await inbox.shows('the editor failed');
    expect(inbox.decisions).toEqual([]);
    inbox.press('q');
    await done;
  });

  it('counts down and follows decisions made elsewhere', async () => {
    const done = inbox.open();
    await inbox.shows('Nothing waits for a decision');
    inbox.waiting = [aRequest(10)];
    inbox.emit('permission_required', 'tc_10');
    await inbox.shows('10:00  demo.pay10');
    inbox.pass(2000);
    await inbox.shows('9:58  demo.pay10');
    inbox.waiting = [];
    inbox.emit('call.state', 'tc_10');
    await inbox.shows('nothing waits');
    inbox.press('q');
    await done;
  });

  it('keeps the selection when other requests come and go', async () => {
    inbox.waiting = [aRequest(1), aRequest(3)];
    const done = inbox.open();
    await inbox.shows('2 waiting');
    inbox.press('j');
    inbox.waiting = [aRequest(2), aRequest(3)];
    inbox.press('r');
    await inbox.shows('demo.pay2');
    expect(inbox.screen.lines()[2]).toMatch(/^▸ .*demo\.pay3/);
    inbox.press('a');
    await inbox.shows('approved demo.pay3');
    inbox.press('q');
    await done;
  });

  it('ignores decisions just after another request took the place of the selected one', async () => {
    inbox.waiting = [aRequest(1), aRequest(2)];
    const done = inbox.open();
    await inbox.shows('2 waiting');
    inbox.waiting = [aRequest(2)];
    inbox.emit('permission_decided', 'tc_1');
    await inbox.shows('1 waiting');
    inbox.press('a');
    await inbox.shows('another request has just taken this place');
    expect(inbox.decisions).toEqual([]);
    inbox.pass(1000);
    inbox.press('a');
    await inbox.shows('approved demo.pay2');
    inbox.press('q');
    await done;
  });

  it('approves a request only after its end has been on the screen', async () => {
    inbox.waiting = [aRequest(1, { args: { lines: Array.from({ length: 60 }, (_, index) => index) } })];
    const done = inbox.open();
    await inbox.shows('more lines: Space');
    inbox.press('a');
    await inbox.shows('there is more of it');
    inbox.press('space');
    await inbox.shows('more lines: Space');
    inbox.press('end');
    await inbox.shows('    59\n  ]\n}');
    inbox.press('home', 'a');
    await inbox.shows('approved demo.pay1');
    inbox.press('q');
    await done;
  });

  it('goes back to the list when the request no longer waits', async () => {
    inbox.waiting = [aRequest(1)];
    const done = inbox.open();
    await inbox.shows('demo.pay1');
    inbox.press('d');
    await inbox.shows('Reason:');
    inbox.waiting = [];
    inbox.emit('call.state', 'tc_1');
    await inbox.shows('tc_1 no longer waits');
    inbox.press('return', 'q');
    await done;
    expect(inbox.decisions).toEqual([]);
  });

  it('shows a refusal and continues', async () => {
    inbox.waiting = [aRequest(1)];
    inbox.refusal = new PatchboardError('problem', 'call tc_1 does not wait for a decision', {
      code: 'conflict',
    });
    const done = inbox.open();
    await inbox.shows('demo.pay1');
    inbox.press('a');
    await inbox.shows('call tc_1 does not wait for a decision');
    inbox.press('q');
    await done;
  });

  it('shows when the server is not reachable, and when it is again', async () => {
    inbox.waiting = [aRequest(1)];
    const done = inbox.open();
    await inbox.shows('demo.pay1');
    inbox.reading = new PatchboardError('network', 'gone', { code: 'network_error' });
    inbox.press('r');
    await inbox.shows('NOT REACHABLE');
    expect(inbox.screen.text()).toContain('demo.pay1');
    inbox.reading = null;
    inbox.pass(10_000);
    await waitFor(() => expect(inbox.screen.text()).not.toContain('NOT REACHABLE'));
    inbox.press('q');
    await done;
  });

  it('ends when the credential is refused', async () => {
    const done = inbox.open();
    await inbox.shows('Nothing waits');
    inbox.reading = new PatchboardError('problem', 'the key is not known', {
      code: 'auth_required',
      status: 401,
    });
    inbox.press('r');
    await expect(done).rejects.toThrow('the key is not known');
    expect(inbox.isEntered).toBe(false);
  });

  it('reports an error at the start before it enters the alternate screen', async () => {
    inbox.reading = new Error('no server');
    await expect(inbox.open()).rejects.toThrow('no server');
    expect(inbox.written).toBe('');
  });

  it('restores the terminal on a signal', async () => {
    const done = inbox.open();
    await inbox.shows('Nothing waits');
    inbox.signal('SIGTERM');
    expect(await done).toBe('SIGTERM');
    expect(inbox.isEntered).toBe(false);
  });

  it('writes only changed lines, and all lines after a resize', async () => {
    inbox.waiting = [aRequest(10)];
    const done = inbox.open();
    await inbox.shows('10:00');
    inbox.written = '';
    inbox.pass(1000);
    await inbox.shows('9:59');
    expect(inbox.written).not.toContain('"cents"');
    expect(inbox.written).not.toContain('\u001b[2J');
    inbox.resize(40, 20);
    await inbox.shows('"cents"');
    expect(inbox.screen.lines().length).toBeLessThanOrEqual(20);
    for (const line of inbox.screen.lines()) expect(line.length).toBeLessThanOrEqual(40);
    inbox.press('q');
    await done;
  });
});
