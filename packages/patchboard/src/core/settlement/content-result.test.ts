import { describe, expect, it } from 'vitest';
import { audioBlock, content, imageBlock, resourceBlock } from '@patchboard/wire';
import type { CallState } from '../call/call.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Limits } from '../limits.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import { accepted, anEngine, aPrincipal, aRequest, aServerTool } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';

const agent = aPrincipal();
const PNG = imageBlock(new Uint8Array([137, 80, 78, 71]));
const KEY = 'patchboard:content';

/** How a call of an in-process tool that returns `value` ends. */
async function endOf(
  value: unknown,
  given: Partial<ServerTool> & { boardHooks?: readonly Hooks[]; limits?: Partial<Limits> } = {},
): Promise<CallState> {
  const { boardHooks = [], limits = {}, ...more } = given;
  const tool = aServerTool({ name: 'camera.shoot', execute: () => value, ...more });
  const { engine } = await anEngine({ tools: [tool], hooks: boardHooks, limits });
  const { id } = accepted(await engine.submit(aRequest({ toolName: 'camera.shoot' }), agent));
  await settled();
  return (await engine.calls.find(agent, id))!.state;
}

describe('a result with content', () => {
  it('is stored with all kinds of blocks, and with what else the tool wrote into them', async () => {
    const value = content(
      [
        'a picture',
        { ...PNG, annotations: { audience: ['user'] } },
        audioBlock('AAAA', 'audio/wav'),
        resourceBlock('file:///a.txt', 'text', 'text/plain'),
        resourceBlock('file:///a.bin', new Uint8Array([1, 2])),
        { type: 'resource_link', uri: 'https://example.org/a', name: 'a', _meta: { more: 1 } },
      ],
      { width: 1 },
    );
    expect(await endOf(value)).toMatchObject({ name: 'COMPLETED', resultJson: JSON.stringify(value) });
  });

  it('is stored with its key first, so that a look at the beginning recognises it', async () => {
    const state = await endOf({ structured: 1, [KEY]: [PNG] });
    expect(state).toMatchObject({ resultJson: JSON.stringify({ [KEY]: [PNG], structured: 1 }) });
  });

  it('is recognised if toJSON makes it', async () => {
    expect(await endOf({ toJSON: () => ({ [KEY]: [{ type: 'image' }] }) })).toMatchObject({
      error: { code: 'output_invalid' },
    });
  });

  it.each<[string, unknown, string]>([
    ['no list', { [KEY]: {} }, 'the member "patchboard:content" of the result must be a list of blocks'],
    ['an unknown member', { [KEY]: [], structuredContent: 1 }, 'and not "structuredContent"'],
    [
      'a block that is no object',
      { [KEY]: [PNG, 3] },
      "block 2 of the result's content: it must be an object",
    ],
    ['an unknown type', { [KEY]: [{ type: 'video' }] }, 'or resource_link, not video'],
    ['no type', { [KEY]: [{}] }, 'or resource_link, not undefined'],
    ['a text without text', { [KEY]: [{ type: 'text' }] }, 'text needs the member "text"'],
    [
      'an image without data',
      { [KEY]: [{ type: 'image', mimeType: 'image/png' }] },
      'image needs the member "data"',
    ],
    [
      'an image without mimeType',
      { [KEY]: [{ type: 'image', data: 'AAAA' }] },
      'image needs the member "mimeType"',
    ],
    [
      'a mimeType that is none',
      { [KEY]: [imageBlock('AAAA', 'png')] },
      'must be a media type such as image/png, not "png"',
    ],
    [
      'data with a wrong character',
      { [KEY]: [imageBlock('AA-A')] },
      '"data" of image is not base64 with padding: character 3',
    ],
    [
      'data without padding',
      { [KEY]: [imageBlock('AAAAA')] },
      'character 6 is wrong, or the text ends there',
    ],
    ['padding in the middle', { [KEY]: [imageBlock('A=AA')] }, 'character 2 is wrong'],
    ['a data URL', { [KEY]: [imageBlock('data:image/png;base64,AAAA')] }, 'character 5 is wrong'],
    [
      'a resource without contents',
      { [KEY]: [{ type: 'resource', resource: { uri: 'a:b' } }] },
      'needs either "text" or "blob"',
    ],
    ['a resource without uri', { [KEY]: [{ type: 'resource', resource: { text: '' } }] }, '"resource.uri"'],
    ['a link without name', { [KEY]: [{ type: 'resource_link', uri: 'a:b' }] }, '"name"'],
  ])('fails as output_invalid with %s', async (_what, value, message) => {
    expect(await endOf(value)).toMatchObject({
      name: 'FAILED',
      error: {
        code: 'output_invalid',
        outcome: 'unknown',
        message: expect.stringContaining(message) as string,
      },
    });
  });

  it('has `structured` checked against the output schema', async () => {
    const outputSchema = { type: 'object', required: ['width'] };
    expect(await endOf(content([PNG], { width: 1 }), { outputSchema })).toMatchObject({ name: 'COMPLETED' });
    expect(await endOf(content([PNG], { height: 1 }), { outputSchema })).toMatchObject({
      error: { code: 'output_invalid', message: expect.stringContaining('output schema') as string },
    });
    expect(await endOf(content([PNG]), { outputSchema })).toMatchObject({
      error: { code: 'output_invalid', message: expect.stringContaining('"structured"') as string },
    });
  });

  it('is checked again after a hook changed it', async () => {
    const breaking: Hooks = { postToolUse: () => ({ replace: { content: { [KEY]: [{ type: 'image' }] } } }) };
    expect(await endOf(content([PNG]), { boardHooks: [breaking] })).toMatchObject({
      error: { code: 'output_invalid' },
    });
    const supplying: Hooks = { preToolUse: () => ({ result: content([PNG]) }) };
    expect(await endOf(1, { boardHooks: [supplying] })).toMatchObject({ name: 'COMPLETED' });
  });

  it('may take contentBytes, where other results may take resultBytes', async () => {
    const limits = { resultBytes: 1000, contentBytes: 5000 };
    const picture = (bytes: number): unknown => content([imageBlock('A'.repeat(bytes))]);
    expect(await endOf(picture(4000), { limits })).toMatchObject({ name: 'COMPLETED' });
    expect(await endOf(picture(5000), { limits })).toMatchObject({
      error: { code: 'result_too_large', message: 'the result is larger than 5000 bytes' },
    });
    expect(await endOf({ text: 'A'.repeat(4000) }, { limits })).toMatchObject({
      error: { code: 'result_too_large', message: 'the result is larger than 1000 bytes' },
    });
    expect(await endOf(picture(4000), { limits: { resultBytes: 6000, contentBytes: 1 } })).toMatchObject({
      name: 'COMPLETED',
    });
  });

  it('of a client is checked too, and may take resultBytes', async () => {
    const { engine } = await anEngine({ limits: { resultBytes: 1000, contentBytes: 5000 } });
    const client = aPrincipal({ clientId: 'phone' });
    await engine.clientTools.register('default', 'phone', [{ name: 'camera', schema: { type: 'object' } }]);
    const end = async (result: unknown): Promise<CallState> => {
      const { id } = accepted(await engine.submit(aRequest({ toolName: 'camera' }), agent));
      await engine.clients.submit(client, id, {
        status: 'SUCCEEDED',
        result,
        error: null,
        attemptToken: null,
      });
      return (await engine.calls.find(agent, id))!.state;
    };
    expect(await end(content([PNG]))).toMatchObject({ name: 'COMPLETED' });
    expect(await end({ [KEY]: 1 })).toMatchObject({ error: { code: 'output_invalid' } });
    expect(await end(content([imageBlock('A'.repeat(4000))]))).toMatchObject({
      error: { code: 'result_too_large' },
    });
  });

  it('is returned again from the response cache, whatever size it may have', async () => {
    let runs = 0;
    const tool = aServerTool({
      name: 'camera.shoot',
      annotations: { readonly: true },
      cacheTtlMs: 60_000,
      execute: () => {
        runs += 1;
        return content([imageBlock('A'.repeat(4000))]);
      },
    });
    const { engine } = await anEngine({ tools: [tool], limits: { resultBytes: 1000 } });
    const end = async (): Promise<CallState> => {
      const { id } = accepted(await engine.submit(aRequest({ toolName: 'camera.shoot' }), agent));
      await settled();
      return (await engine.calls.find(agent, id))!.state;
    };
    const first = await end();
    expect(first).toMatchObject({ name: 'COMPLETED' });
    expect(await end()).toEqual(first);
    expect(runs).toBe(1);
  });

  it('in the progress of a call is named beyond 64 KiB, from this process and from a client', async () => {
    const large = content(['step 1', imageBlock('A'.repeat(100_000))]);
    const tool = aServerTool({
      name: 'camera.shoot',
      execute: (_args, context) => {
        context.progress(large);
        context.emit('frame', large);
        return null;
      },
    });
    const { engine } = await anEngine({ tools: [tool] });
    const seen: unknown[] = [];
    engine.feed.listen((event) => {
      if (event.type === 'call.progress' || event.type === 'tool_custom_event') seen.push(event.data);
    });
    await engine.submit(aRequest({ toolName: 'camera.shoot' }), agent);
    await settled();
    await engine.clientTools.register('default', 'phone', [{ name: 'camera', schema: { type: 'object' } }]);
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'camera' }), agent));
    await engine.clients.progress(aPrincipal({ clientId: 'phone' }), id, null, large);
    const omitted = expect.stringMatching(
      /^\[image\/png, 75 kB\] is left out here: an event carries/,
    ) as string;
    const data = { [KEY]: [{ type: 'text', text: 'step 1' }, { text: omitted }] };
    expect(seen).toMatchObject([{ data }, { event_type: 'frame', data }, { data }]);
  });

  it('is told apart by one look at the value: no member but the key is read', async () => {
    const read: string[] = [];
    const value = new Proxy(
      { rows: [1] },
      {
        get: (target, key, receiver) => {
          if (typeof key === 'string') read.push(key);
          return Reflect.get(target, key, receiver) as unknown;
        },
      },
    );
    expect(await endOf(value)).toMatchObject({ name: 'COMPLETED' });
    expect(read.filter((key) => key === 'rows')).toHaveLength(1);
  });
});
