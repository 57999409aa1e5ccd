import { halves, inPieces, type SpokenReply } from './script.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** The response body of `POST /v1/chat/completions`. */
export function chatCompletion(reply: SpokenReply): unknown {
  const { text, calls } = reply;
  const tool_calls = calls.map(({ id, name, argsText }) => ({
    id,
    type: 'function',
    function: { name, arguments: argsText },
  }));
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls }),
  };
  return {
    ...head(reply, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReason(reply) }],
    usage: USAGE,
  };
}

/** The same as a list of streamed events. */
export function chatCompletionEvents(reply: SpokenReply): string[] {
  const chunk = (delta: unknown, finish: string | null = null): string =>
    data({
      ...head(reply, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const calls = reply.calls.flatMap(({ id, name, argsText }, index) => [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...halves(argsText).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
  ]);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...inPieces(reply.text).map((content) => chunk({ content })),
    ...calls,
    chunk({}, finishReason(reply)),
    data({ ...head(reply, 'chat.completion.chunk'), choices: [], usage: USAGE }),
    'data: [DONE]\n\n',
  ];
}

function head({ id, model }: SpokenReply, object: string): Record<string, unknown> {
  return { id, object, created: 0, model };
}

function finishReason({ calls }: SpokenReply): string {
  return calls.length === 0 ? 'stop' : 'tool_calls';
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
