import { describe, expect, it } from 'vitest';
import { add, scenes, type Scene } from '../../test/support/agent-scene.ts';
import { Agent, formatRequest, textDialect, tool, type AgentOptions } from '../index.ts';
import type { ScriptedCall, ScriptedReply } from '../testing/index.ts';

const { aScene } = scenes();

const slow = tool({
  name: 'slow',
  metadata: { timeout: 50 },
  execute: () => new Promise(() => {}),
});
const danger = tool({
  name: 'files.delete',
  metadata: { destructive: true },
  execute: () => ({ deleted: 1 }),
});
const tools = { tools: [add, slow, danger] };

/** The same request in the format of each dialect. */
interface Speech {
  readonly name: string;
  readonly vendor: 'openai' | 'anthropic';
  readonly options: Partial<AgentOptions>;
  readonly say: (text: string, ...calls: readonly ScriptedCall[]) => ScriptedReply;
}

const written = ({ name, args }: ScriptedCall): string => {
  const given = Object.entries((args ?? {}) as Record<string, unknown>).map(([key, value]) => [
    key,
    String(value),
  ]);
  return formatRequest({ toolName: name, args: Object.fromEntries(given) as Record<string, string> });
};

const SPEECHES: readonly Speech[] = [
  ...(['openai', 'anthropic'] as const).map((vendor): Speech => ({
    name: `native calls of ${vendor}`,
    vendor,
    options: {},
    say: (text, ...calls) => ({ text, calls }),
  })),
  ...(['openai', 'anthropic'] as const).map((vendor): Speech => ({
    name: `text over ${vendor}`,
    vendor,
    options: { dialect: textDialect() },
    say: (text, ...calls) => [text, ...calls.map(written)].join('\n'),
  })),
];

describe.each(SPEECHES)('a chat in $name', ({ vendor, options, say }) => {
  async function begin(...script: readonly ScriptedReply[]): Promise<Scene> {
    return await aScene(script, { ...options, maxIterations: 4 }, tools, vendor);
  }

  it('goes three rounds, with parallel calls, an approval and a timeout', async () => {
    const { agent, models } = await begin(
      say('First.', { name: 'math.add', args: { a: 1, b: 2 } }, { name: 'math.add', args: { a: 3, b: 4 } }),
      say('Now the file.', { name: 'files.delete' }),
      say('And this.', { name: 'slow' }),
      'All done.',
    );
    agent.on('permission_required', ({ call }) => agent.decide(call.id, 'allow'));
    const reply = await agent.send('Go.');
    expect(reply).toMatchObject({ reason: 'done', text: 'All done.' });
    expect(reply.calls.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'math.add COMPLETED',
      'math.add COMPLETED',
      'files.delete COMPLETED',
      'slow TIMED_OUT',
    ]);
    expect(reply.calls.map(({ result }) => result).slice(0, 3)).toEqual([
      { sum: 3 },
      { sum: 7 },
      { deleted: 1 },
    ]);
    const [, second, third, fourth] = models.requests.map(({ body }) => JSON.stringify(body));
    expect(second).toMatch(/sum.*3.*sum.*7/s);
    expect(third).toContain('deleted');
    expect(fourth).toContain('timeout');
  });

  it('stores requests and their results in the metadata of each message', async () => {
    const { agent } = await begin(say('', { name: 'math.add', args: { a: 1, b: 2 } }), 'Three.');
    const { calls } = await agent.send('Go.');
    const callId = calls[0]?.id;
    expect(agent.messages[1]).toMatchObject({
      metadata: { toolCallsRequested: [{ toolName: 'math.add', callId }] },
    });
    expect(agent.messages[2]).toMatchObject({
      metadata: { toolCall: [{ toolName: 'math.add', callId, status: 'success' }] },
    });
  });

  it('stops at maxIterations', async () => {
    const again = say('Again.', { name: 'math.add', args: { a: 1, b: 1 } });
    const { agent } = await begin(again, again, again, again, 'never said');
    expect(await agent.send('Go.')).toMatchObject({ reason: 'max_iterations' });
  });
});

describe('a text protocol', () => {
  const text = { dialect: textDialect() };

  it('describes tools in the system prompt, and emits no request blocks as text', async () => {
    const { agent, models } = await aScene(
      [`Let me see.\n${written({ name: 'math.add', args: { a: 1, b: 2 } })}\nOne moment.`, 'Three.'],
      { ...text, system: 'You count.' },
    );
    const deltas: string[] = [];
    agent.on('text_delta', ({ delta }) => deltas.push(delta));
    await agent.send('Go.');
    const [first, second] = models.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain('You count.');
    expect(first).toContain('tool_name:「始」math.add「末」');
    expect(models.requests[0]?.tools).toEqual([]);
    expect(deltas.join('')).toBe('Let me see.\n\nOne moment.Three.');
    // The prompt contains the model's own reply unchanged, and the result in a block.
    expect(second).toContain('One moment.');
    expect(second).toContain('<<<[TOOL_RESULT]>>>\\nrequest_id:「始」r1-1「末」');
  });

  it.each(['hang', 'break'] as const)(
    'starts a call while the reply still streams, after which the model does: %s',
    async (ending) => {
      const words = `${written({ name: 'math.add', args: { a: 1, b: 2 } })} and there is so much more to say about it`;
      const { agent } = await aScene([{ text: words, ending }], text);
      const ended = new Promise((resolve) => agent.on('tool:end', resolve));
      const sending = agent.send('Go.');
      const outcome = sending.then(
        ({ reason }) => reason,
        () => 'failed',
      );
      await ended;
      if (ending === 'hang') await agent.interrupt();
      expect(await outcome).toBe(ending === 'hang' ? 'interrupted' : 'failed');
      // It ran once, and the conversation can be continued.
      const [, said, results] = agent.messages;
      expect(said).toMatchObject({ role: 'assistant', incomplete: true });
      expect(results?.content).toMatchObject([{ type: 'tool_result', content: { sum: 3 }, is_error: false }]);
      expect(agent.isUnfinished).toBe(true);
    },
  );

  it('returns errors for damaged, unknown and mistyped requests, and runs none of them', async () => {
    const { agent, models } = await aScene(
      [
        [
          '<<<[TOOL_REQUEST]>>>tool_name:「始」math.add「末」a:「始」1<<<[END_TOOL_REQUEST]>>>',
          written({ name: 'no.tool' }),
          written({ name: 'math.add', args: { a: 'one', b: 2 } }),
        ].join('\n'),
        'Sorry.',
      ],
      text,
    );
    const { calls } = await agent.send('Go.');
    expect(calls.map(({ code }) => code)).toEqual(['input_invalid', 'tool_not_found', 'input_invalid']);
    const sent = JSON.stringify(models.requests[1]?.body);
    expect(sent).toContain('line 1, column 47 of the reply');
    expect(sent).toContain('must be a number');
  });

  it('returns a result for a hundred damaged requests and a count of the others', async () => {
    const damaged = '<<<[TOOL_REQUEST]>>>x:「始」1「末」<<<[END_TOOL_REQUEST]>>>\n'.repeat(150);
    const { agent, models } = await aScene([damaged, 'Sorry.'], text);
    expect((await agent.send('Go.')).calls).toHaveLength(101);
    const sent = JSON.stringify(models.requests[1]?.body);
    expect(sent).toContain('line 101, column 1 of the reply: 50 more problems of this reply are not listed');
  });

  it('does not send the success of a noReply request to the model', async () => {
    const block =
      '<<<[TOOL_REQUEST]>>>tool_name:「始」math.add「末」a:「始」1「末」b:「始」2「末」archery:「始」no_reply「末」<<<[END_TOOL_REQUEST]>>>';
    const { agent, models } = await aScene(
      [block + written({ name: 'math.add', args: { a: 5, b: 5 } }), 'ok'],
      text,
    );
    await agent.send('Go.');
    const sent = JSON.stringify(models.requests[1]?.body);
    expect(sent.split('<<<[TOOL_RESULT]>>>')).toHaveLength(2);
    expect(sent).toContain('10');
  });

  it('runs requests one after the other with parallel: false', async () => {
    const events: string[] = [];
    const step = tool('step', async ({ n }: { n: string }) => {
      events.push(`begin ${n}`);
      await new Promise((resolve) => setImmediate(resolve));
      events.push(`end ${n}`);
    });
    const reply = ['1', '2'].map((n) => written({ name: 'step', args: { n } })).join('\n');
    const { agent } = await aScene([reply, 'ok'], { ...text, parallel: false }, { tools: [step] });
    await agent.send('Go.');
    expect(events).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2']);
  });

  it('can be a custom protocol, but not one that is not text', async () => {
    const { board, model } = await aScene([], {});
    const { protocolOf } = await import('../index.ts');
    expect(() => new Agent({ board, model, dialect: textDialect(protocolOf('openai')) })).toThrow(
      'no text protocol',
    );
  });
});
