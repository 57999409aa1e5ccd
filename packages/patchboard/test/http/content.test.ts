import { audioBlock, content, imageBlock, resourceBlock } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { aServer, type HttpResponse, type TestServer } from './support/a-server.ts';

const PICTURE = imageBlock('AAAA'.repeat(3000));
const RESULT = content(
  ['A screenshot.', PICTURE, audioBlock('AAAA', 'audio/wav'), resourceBlock('file:///a.txt', 'inside')],
  { width: 2 },
);
/** Over a MiB, as a screenshot is. */
const LARGE = content(['large', imageBlock('AAAA'.repeat(700_000)), imageBlock('BBBB')], { width: 3 });

let server: TestServer;
beforeAll(async () => {
  const tools = [
    aServerTool({ name: 'camera.shoot', execute: () => RESULT }),
    aServerTool({ name: 'camera.large', execute: () => LARGE }),
    aServerTool({ name: 'camera.svg', execute: () => content([imageBlock('AAAA', 'image/svg+xml')]) }),
  ];
  server = await aServer({ tools });
});
afterAll(async () => {
  await server.close();
});

const TEXT = 'A screenshot.\n[image/png, 9 kB]\n[audio/wav, 3 B]\ninside\n{"width":2}';

async function invoke(tool: string, run: string): Promise<HttpResponse> {
  return await server.post(
    `/v1/tools/${tool}/invoke`,
    { run_id: run, args: {} },
    { headers: { prefer: 'wait=20' } },
  );
}

describe('a result with content over HTTP', () => {
  it('is verbatim where the call is returned and in its record', async () => {
    const { json } = await invoke('camera.shoot', 'run_whole');
    expect(json).toMatchObject({ state: 'COMPLETED', result: RESULT });
    expect((await server.get(`/v1/tool_calls/${json.tool_call_id}`)).json.result).toEqual(RESULT);
    expect((await server.get('/v1/tool_calls?run_id=run_whole')).json.tool_calls[0].result).toEqual(RESULT);
  });

  it('is taken from a client, and checked', async () => {
    const tools = [{ name: 'phone.shoot', schema: {} }];
    await server.post('/internal/tools/register', { client_id: 'phone', tools });
    const end = async (result: unknown): Promise<HttpResponse> => {
      const receipt = await server.post('/v1/tools/phone.shoot/invoke', { run_id: 'run_phone', args: {} });
      const { tool_call_id: id } = receipt.json;
      await server.post(`/internal/tool_calls/${id}/submit`, { status: 'SUCCEEDED', result });
      return await server.get(`/v1/tool_calls/${id}`);
    };
    expect((await end(RESULT)).json).toMatchObject({ state: 'COMPLETED', result: RESULT });
    expect((await end({ 'patchboard:content': [{ type: 'image', data: 'AAAA' }] })).json).toMatchObject({
      state: 'FAILED',
      error: {
        code: 'output_invalid',
        message: expect.stringContaining('block 1') as string,
        reasons: [{ code: 'content_block', params: { number: 1 } }],
      },
    });
  });

  it('may be larger than result_bytes, and is named in lists', async () => {
    const { json } = await invoke('camera.large', 'run_large');
    expect(json.result).toEqual(LARGE);
    const omitted = {
      type: 'text',
      text: `[image/png, 2.1 MB] is left out here: read GET /v1/tool_calls/${json.tool_call_id}`,
      _meta: { 'patchboard/omitted': true },
    };
    const listed = content(['large', omitted as never, imageBlock('BBBB')], { width: 3 });
    const list = await server.get('/v1/tool_calls?run_id=run_large');
    expect(list.json.tool_calls[0].result).toEqual(listed);
    const run = await server.get('/v1/runs/run_large');
    expect(run.json.tool_calls[0].result).toEqual(listed);
    expect(Math.max(list.text.length, run.text.length)).toBeLessThan(65_536);
  });
});

const anthropic = (name: string): object[] => [{ type: 'tool_use', id: 'call_1', name, input: {} }];
const openai = (name: string): object[] => [
  { id: 'call_1', type: 'function', function: { name, arguments: '{}' } },
];
const responses = (name: string): object => ({
  output: [{ type: 'function_call', call_id: 'call_1', name, arguments: '{}' }],
});

describe('a result with content in the format of a model', () => {
  const batch = async (format: string, reply: unknown): Promise<HttpResponse> =>
    await server.post('/v1/tool_calls/batch', { format, reply, run_id: 'run_batch' });

  it('has its pictures as blocks for Anthropic, and text for the rest', async () => {
    const { json } = await batch('anthropic', anthropic('camera__shoot'));
    expect(json.results).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'call_1',
        content: [
          { type: 'text', text: 'A screenshot.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE.data } },
          { type: 'text', text: '[audio/wav, 3 B]' },
          { type: 'text', text: 'inside' },
          { type: 'text', text: '{"width":2}' },
        ],
      },
    ]);
  });

  it('is text for Anthropic where it has no picture that the vendor takes', async () => {
    const { json } = await batch('anthropic', anthropic('camera__svg'));
    expect(json.results[0].content).toBe('[image/svg+xml, 3 B]');
  });

  it('has its pictures as blocks for the Responses API', async () => {
    const { json } = await batch('openai-responses', responses('camera__shoot'));
    expect(json.results[0].output.slice(0, 2)).toEqual([
      { type: 'input_text', text: 'A screenshot.' },
      { type: 'input_image', image_url: `data:image/png;base64,${PICTURE.data}` },
    ]);
  });

  it('is text for chat completions, whose tool messages have no pictures', async () => {
    const { json } = await batch('openai', openai('camera__shoot'));
    expect(json.results).toEqual([{ role: 'tool', tool_call_id: 'call_1', content: TEXT }]);
  });

  it('is text for VCP, and the row of the call names large content', async () => {
    const block = '<<<[TOOL_REQUEST]>>>tool_name:「始」camera.large「末」<<<[END_TOOL_REQUEST]>>>';
    const { json, text } = await batch('vcp', block);
    expect(json.results).toContain('large\n[image/png, 2.1 MB]\n[image/png, 3 B]\n{"width":3}');
    expect(text.length).toBeLessThan(65_536);
  });

  it('is taken by POST /v1/format, for MCP as it is', async () => {
    const result = {
      requestId: 'call_1',
      toolName: 'camera.shoot',
      status: 'success',
      result: TEXT,
      content: RESULT,
      durationMs: 1,
    };
    const format = async (protocol: string): Promise<unknown> =>
      JSON.parse((await server.post('/v1/format', { protocol, results: [result] })).json.text as string);
    expect(await format('mcp')).toEqual([
      { content: RESULT['patchboard:content'], structuredContent: { width: 2 }, isError: false },
    ]);
    expect(await format('anthropic')).toMatchObject([
      { content: [{ type: 'text' }, { type: 'image' }, {}, {}, {}] },
    ]);
  });
});
