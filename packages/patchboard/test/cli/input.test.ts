import type { CallView } from '@patchboard/wire';
import { createClient, type PatchboardClient } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { aServer, type TestServer } from '../http/support/a-server.ts';
import { aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { LONG, Workplace } from './cli-process.ts';

const TRIP = {
  message: 'Where to?',
  schema: {
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', description: 'where you want to go' },
      days: { type: 'integer', minimum: 1, maximum: 30 },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'], default: 'celsius' },
      direct: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      note: { type: 'string' },
    },
    required: ['city', 'days', 'direct'],
    additionalProperties: false,
  },
} as const;

const annotations = { asks_input: true };
const trip = aServerTool({
  name: 'trip.plan',
  annotations,
  execute: async (_args, context) => ({ trip: await context.requestInput(TRIP) }),
});
const visit = aServerTool({
  name: 'trip.pay',
  annotations,
  execute: async (_args, context) => {
    await context.requestInput({ message: 'Pay, please', url: 'https://pay.example/7' });
    return 'paid';
  },
});

const summary = aServerTool({
  name: 'page.summary',
  annotations,
  execute: (_args, context) =>
    context.requestInput({ message: 'Summarise', sampling: { messages: [], maxTokens: 9 } }),
});

let place: Workplace;
let server: TestServer;
let client: PatchboardClient;

beforeAll(async () => {
  place = await Workplace.create();
  server = await aServer({ tools: [trip, visit, summary] });
  place.environment['PATCHBOARD_URL'] = server.url;
  client = createClient({ url: server.url });
}, LONG);

afterAll(async () => {
  await server.close();
  await place.remove();
}, LONG);

/** A call that waits for input. */
async function asking(tool: string): Promise<CallView> {
  const { tool_call_id: id } = await client.invoke(tool);
  await waitFor(async () => expect((await client.get(id)).input_request).toBeDefined());
  return client.get(id);
}

describe('call in a terminal', { timeout: LONG }, () => {
  it('shows a form, asks again for what does not fit, and prints the result', async () => {
    const session = await place.terminal(
      [
        ['(?s)The tool asks: Where to\\?.*City: where you want to go.*City \\(string; required\\): ', '\n'],
        ['(?s)a value is required.*City', 'd\n'],
        ['days \\(integer; required\\): ', 'many\n'],
        ['(?s)not an integer.*days', '99\n'],
        ['(?s)1  celsius.*2  fahrenheit.*unit \\(1-2; default 1\\): ', '2\n'],
        ['direct \\(y/n; required\\): ', 'y\n'],
        ['tags \\(array as JSON; optional, Enter leaves it out\\): ', '["sun"]\n'],
        ['note \\(string; optional, Enter leaves it out\\): ', '\n'],
        ['(?s)/days: .*30.*days \\(integer; required\\): ', '3\n'],
      ],
      ['call', 'trip.plan'],
    );
    expect(session).toMatchObject({ failed: null, code: 0, cooked: true });
    const [call] = (await client.calls({ toolName: 'trip.plan', limit: 1 }).page()).items;
    expect(call?.result).toEqual({
      trip: { city: 'd', days: 3, unit: 'fahrenheit', direct: true, tags: ['sun'] },
    });
    expect(session.transcript).toContain('"fahrenheit"');
    const shown = await place.run(['calls', 'show', call!.tool_call_id]);
    expect(shown.out).toMatch(/input requests\n {2}in_\S+ {2}\S+ {2}Where to\?\n {4}→ accept {"city":"d"/);
  });

  it('prints a link and waits for Enter; d and Ctrl-D decline', async () => {
    const paid = await place.terminal(
      [['(?s)Pay, please.*https://pay\\.example/7.*Press Enter', '\n']],
      ['call', 'trip.pay'],
    );
    expect(paid).toMatchObject({ failed: null, code: 0 });
    for (const keys of ['d\n', '\u0004']) {
      const declined = await place.terminal([['Press Enter', keys]], ['call', 'trip.pay']);
      expect(declined).toMatchObject({ failed: null, code: 1 });
      expect(declined.transcript).toContain('input_declined');
    }
  });

  it('Ctrl-C cancels the call, and the end of the request ends the form', async () => {
    const stopped = await place.terminal([['Press Enter', '\u0003']], ['call', 'trip.pay']);
    expect(stopped).toMatchObject({ failed: null, code: 130 });
    const impatient = await aServer({ tools: [visit], limits: { inputExpiryMs: 3000 } });
    onTestFinished(() => impatient.close());
    const expired = await place.terminal([['Press Enter', '']], ['call', 'trip.pay', '--url', impatient.url]);
    expect(expired).toMatchObject({ failed: null, code: 4, cooked: true });
    expect(expired.transcript).toContain('input_expired');
  });
});

describe('call without a terminal', { timeout: LONG }, () => {
  it('fails a tool that asks, also with --json', async () => {
    const failed = await place.run(['call', 'trip.plan']);
    expect(failed.code).toBe(1);
    expect(failed.error).toContain('input_unavailable');
    expect(JSON.parse((await place.run(['call', 'trip.plan', '--json'])).out)).toMatchObject({
      error: { code: 'input_unavailable' },
    });
  });

  it('with --no-input fails also in a terminal', async () => {
    const session = await place.terminal([], ['call', 'trip.plan', '--no-input']);
    expect(session.transcript).toContain('input_unavailable');
  });
});

describe('input', { timeout: LONG }, () => {
  it('responds from another terminal, typed by the schema, as JSON, or declines', async () => {
    const first = await asking('trip.plan');
    const listed = await place.run(['calls', 'ls', '--state', 'input_required']);
    expect(listed.out).toContain(first.tool_call_id);
    const shown = await place.run(['calls', 'show', first.tool_call_id]);
    expect(shown.out).toContain(`patchboard input ${first.tool_call_id}`);
    const pairs = ['input', first.tool_call_id, 'city=Rom', 'days=2', 'direct=true'];
    expect(await place.run(pairs)).toMatchObject({ code: 0 });
    expect((await client.wait(first.tool_call_id)).result).toEqual({
      trip: { city: 'Rom', days: 2, direct: true },
    });
    const again = await place.run(pairs);
    expect(again.code).toBe(2);
    expect(again.error).toContain('does not wait for input: it is COMPLETED');

    const second = await asking('trip.plan');
    const wrong = await place.run(['input', second.tool_call_id, '{"city":"Rom"}']);
    expect(wrong.code).toBe(2);
    expect(wrong.error).toContain('days');
    expect((await place.run(['input', second.tool_call_id])).error).toContain('Where to?');
    await place.run(['input', second.tool_call_id, '--decline']);
    expect((await client.wait(second.tool_call_id)).error?.code).toBe('input_declined');
  });

  it('shows a form in a terminal', async () => {
    const { tool_call_id: id } = await asking('trip.pay');
    const session = await place.terminal([['Press Enter', '\n']], ['input', id]);
    expect(session).toMatchObject({ failed: null, code: 0 });
    expect((await client.wait(id)).result).toBe('paid');
  });
});

describe('a request for a language model', { timeout: LONG }, () => {
  it('can be seen and declined in a terminal', async () => {
    const { tool_call_id: id } = await client.invoke('page.summary', {}, { acceptsInput: ['sampling'] });
    await waitFor(async () => expect((await client.get(id)).input_request?.kind).toBe('sampling'));
    const refused = await place.run(['input', id]);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('of kind sampling, to which a terminal cannot respond');
    const declined = await place.terminal(
      [['(?s)Summarise.*a terminal cannot respond.*Press Enter to decline', '\n']],
      ['input', id],
    );
    expect(declined).toMatchObject({ failed: null, code: 0 });
    expect((await client.get(id)).error?.code).toBe('input_declined');
  });
});
