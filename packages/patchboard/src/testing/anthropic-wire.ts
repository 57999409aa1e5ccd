import { halves, inPieces, type SpokenReply } from './script.ts';

/** The response body of `POST /v1/messages`. */
export function message(reply: SpokenReply): unknown {
  const { thinking, text, calls } = reply;
  const uses = calls.map(({ id, name, argsText }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(argsText) as unknown,
  }));
  return {
    ...head(reply),
    content: [
      ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: signatureOf(thinking) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...uses,
    ],
    stop_reason: stopReason(reply),
  };
}

/** The same as a list of streamed events. */
export function messageEvents(reply: SpokenReply): string[] {
  const blocks = [
    ...(reply.thinking === '' ? [] : [thinkingBlock(reply.thinking)]),
    ...(reply.text === '' ? [] : [textBlock(reply.text)]),
    ...reply.calls.map(({ id, name, argsText }) => toolBlock(id, name, argsText)),
  ];
  return [
    event('message_start', { message: { ...head(reply), content: [], stop_reason: null } }),
    ...blocks.flatMap((block, index) => block(index)),
    event('message_delta', {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    event('message_stop', {}),
  ];
}

type Block = (index: number) => string[];

function thinkingBlock(thinking: string): Block {
  const delta = (index: number, body: Record<string, unknown>): string =>
    event('content_block_delta', { index, delta: body });
  return (index) => [
    event('content_block_start', { index, content_block: { type: 'thinking', thinking: '' } }),
    ...inPieces(thinking).map((piece) => delta(index, { type: 'thinking_delta', thinking: piece })),
    delta(index, { type: 'signature_delta', signature: signatureOf(thinking) }),
    event('content_block_stop', { index }),
  ];
}

/** The vendor accepts reasoning back only with its own signature. */
function signatureOf(thinking: string): string {
  return `signed:${thinking.length}`;
}

function textBlock(text: string): Block {
  return (index) => [
    event('content_block_start', { index, content_block: { type: 'text', text: '' } }),
    ...inPieces(text).map((piece) =>
      event('content_block_delta', { index, delta: { type: 'text_delta', text: piece } }),
    ),
    event('content_block_stop', { index }),
  ];
}

function toolBlock(id: string, name: string, argsText: string): Block {
  return (index) => [
    event('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } }),
    ...halves(argsText).map((half) =>
      event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: half } }),
    ),
    event('content_block_stop', { index }),
  ];
}

function head({ id, model }: SpokenReply): Record<string, unknown> {
  const usage = { input_tokens: 10, output_tokens: 5 };
  return { id, type: 'message', role: 'assistant', model, stop_sequence: null, usage };
}

function stopReason({ calls }: SpokenReply): string {
  return calls.length === 0 ? 'end_turn' : 'tool_use';
}

function event(type: string, body: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
