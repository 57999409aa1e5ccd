import { expect, it } from 'vitest';
import {
  accepted,
  anAgentHandle,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
} from '../../../test/support/an-engine.ts';
import type { BoardEvent } from '../ledger/events.ts';
import type { InProcessCaller, ToolCustomEvent } from '../call/live-call.ts';
import type { Log } from '../ports.ts';
import type { ToolContext } from '../tools/server-tool.ts';

const principal = aPrincipal();

interface Line {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function aLog(): Log & { readonly lines: Line[] } {
  const lines: Line[] = [];
  const write = (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    void lines.push({ event, fields });
  return { lines, info: write, warn: write, error: write };
}

/** Runs one call of the given tool for an agent that listens to its events. */
async function runOnce(
  execute: (context: ToolContext) => unknown,
  listeners: Pick<InProcessCaller, 'onCustomEvent' | 'onProgress'> = {},
): Promise<{ id: string; heard: ToolCustomEvent[]; told: BoardEvent[]; lines: Line[]; state: string }> {
  const log = aLog();
  const tool = aServerTool({ name: 't', execute: (_args, context) => Promise.resolve(execute(context)) });
  const { engine } = await anEngine({
    tools: [tool],
    log,
    redact: ['password'],
    limits: { resultBytes: 500 },
  });
  const heard: ToolCustomEvent[] = [];
  const told: BoardEvent[] = [];
  engine.feed.listen((event) => {
    if (event.type !== 'policy.changed' && event.seq === null) told.push(event);
  });
  const agent = anAgentHandle('the agent');
  const caller: InProcessCaller = {
    hooks: [],
    agent,
    onCustomEvent: (event) => void heard.push(event),
    ...listeners,
  };
  const submitted = await engine.submit({ ...aRequest({ toolName: 't' }), caller }, principal);
  if (submitted.kind !== 'accepted') throw new Error(submitted.kind);
  const ended = await engine.calls.wait(principal, submitted.call.id, 1000);
  return { id: submitted.call.id, heard, told, lines: log.lines, state: ended?.state.name ?? 'none' };
}

it('tells the agent and the feed what a tool emits, in order and redacted', async () => {
  const shown = { step: 1, password: 'hunter2' };
  const { id, heard, told } = await runOnce((context) => {
    context.emit('started', shown);
    shown.step = 2;
    context.emit('done');
  });
  expect(
    heard.map(({ callId, toolName, runId, eventType, data }) => [callId, toolName, runId, eventType, data]),
  ).toEqual([
    [id, 't', 'run_1', 'started', { step: 1, password: '[redacted]' }],
    [id, 't', 'run_1', 'done', null],
  ]);
  expect(told.map(({ type, callId, data }) => [type, callId, data])).toEqual([
    [
      'tool_custom_event',
      id,
      { tool_call_id: id, at: expect.any(String), event_type: 'started', data: heard[0]?.data },
    ],
    ['tool_custom_event', id, { tool_call_id: id, at: expect.any(String), event_type: 'done', data: null }],
  ]);
});

it('hands the tool the agent that asks, and a log that names the call and hides secrets', async () => {
  let agent: unknown;
  const { id, lines } = await runOnce((context) => {
    ({ agent } = context);
    const { log } = context;
    log.info('looked', { rows: 3, password: 'hunter2', tool_call_id: 'tc_other' });
  });
  expect(agent).toMatchObject({ name: 'the agent' });
  expect(lines).toEqual([
    {
      event: 'looked',
      fields: expect.objectContaining({
        rows: 3,
        password: '[redacted]',
        tool_call_id: id,
        tool_name: 't',
        run_id: 'run_1',
      }) as unknown,
    },
  ]);
});

it('ignores what is emitted after the end, and says so once', async () => {
  let late: ToolContext | undefined;
  const { id, heard, told, lines } = await runOnce((context) => {
    late = context;
  });
  late!.emit('too', 'late');
  late!.emit('again');
  late!.progress(1);
  expect([heard, told]).toEqual([[], []]);
  expect(lines.map(({ event, fields }) => [event, fields['tool_call_id'], fields['event_type']])).toEqual([
    ['call.event_after_end', id, 'too'],
  ]);
});

it.each([
  ['a cycle', (context: ToolContext) => context.emit('x', cycle())],
  ['a BigInt', (context: ToolContext) => context.progress(1n)],
  ['more than the limit', (context: ToolContext) => context.emit('x', 'y'.repeat(501))],
  ['a nameless event', (context: ToolContext) => context.emit('', 1)],
  ['an event that is no text', (context: ToolContext) => context.emit(7 as unknown as string, 1)],
])('drops %s with a line in the log, and the call goes on', async (_what, emit) => {
  const { heard, told, lines, state } = await runOnce(emit);
  expect([heard, told, state]).toEqual([[], [], 'COMPLETED']);
  expect(lines.map(({ event }) => event)).toEqual(['call.event_dropped']);
});

it.each(['onCustomEvent', 'onProgress'])(
  'does not fail a tool for what %s of the caller throws',
  async (name) => {
    const listener = (): void => {
      throw new Error('no');
    };
    const { state, lines } = await runOnce(
      (context) => {
        context.emit('x');
        context.progress(1);
      },
      { [name]: listener },
    );
    expect([state, lines.map(({ event }) => event)]).toEqual(['COMPLETED', ['call.event_dropped']]);
  },
);

it('calls the caller with the progress of the call, redacted and in order', async () => {
  const progress: unknown[] = [];
  await runOnce(
    (context) => {
      context.progress({ done: 1, password: 'hunter2' });
      context.progress('half');
    },
    { onProgress: (data) => void progress.push(data) },
  );
  expect(progress).toEqual([{ done: 1, password: '[redacted]' }, 'half']);
});

it('calls the caller with the progress that a client reports', async () => {
  const { engine } = await anEngine({ redact: ['password'] });
  const tool = { name: 'door', description: 'opens', schema: { type: 'object' } };
  await engine.clientTools.register('default', 'phone', [tool]);
  const progress: unknown[] = [];
  const caller: InProcessCaller = {
    hooks: [],
    agent: undefined,
    onProgress: (data) => void progress.push(data),
  };
  const { id } = accepted(await engine.submit({ ...aRequest({ toolName: 'door' }), caller }, principal));
  const phone = aPrincipal({ clientId: 'phone' });
  expect(await engine.clients.progress(phone, id, null, { done: 1, password: 'x' })).toMatchObject({
    ok: true,
  });
  expect(progress).toEqual([{ done: 1, password: '[redacted]' }]);
});

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}
