import { halves, inPieces, type SpokenReply } from './script.ts';

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

/** The response body of `POST /v1/responses`. */
export function responseObject(reply: SpokenReply): Record<string, unknown> {
  const output = itemsOf(reply).map(({ done }) => done);
  return { ...head(reply), status: 'completed', output, usage: USAGE };
}

/** The same as a list of streamed events. */
export function responseEvents(reply: SpokenReply): string[] {
  let last = 0;
  const event = (type: string, body: Record<string, unknown>): string => {
    last += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: last, ...body })}\n\n`;
  };
  const response = { ...head(reply), status: 'in_progress', output: [] };
  return [
    event('response.created', { response }),
    ...itemsOf(reply).flatMap(({ added, pieces, done }, index) => [
      event('response.output_item.added', { output_index: index, item: added }),
      ...pieces.map(({ type, ...piece }) =>
        event(type, { item_id: added['id'], output_index: index, ...piece }),
      ),
      event('response.output_item.done', { output_index: index, item: done }),
    ]),
    event('response.completed', { response: responseObject(reply) }),
  ];
}

interface Item {
  readonly added: Readonly<Record<string, unknown>>;
  readonly pieces: readonly ({ readonly type: string } & Readonly<Record<string, unknown>>)[];
  readonly done: Readonly<Record<string, unknown>>;
}

function itemsOf({ id, text, calls }: SpokenReply): Item[] {
  return [...(text === '' ? [] : [messageItem(`msg_${id}`, text)]), ...calls.map(callItem)];
}

function messageItem(id: string, text: string): Item {
  const message = { type: 'message', id, role: 'assistant' };
  const part = { type: 'output_text', text, annotations: [] };
  return {
    added: { ...message, status: 'in_progress', content: [] },
    pieces: [
      { type: 'response.content_part.added', content_index: 0, part: { ...part, text: '' } },
      ...inPieces(text).map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta })),
      { type: 'response.output_text.done', content_index: 0, text },
      { type: 'response.content_part.done', content_index: 0, part },
    ],
    done: { ...message, status: 'completed', content: [part] },
  };
}

function callItem({ id, name, argsText }: SpokenReply['calls'][number]): Item {
  const call = { type: 'function_call', id: `fc_${id}`, call_id: id, name };
  return {
    added: { ...call, status: 'in_progress', arguments: '' },
    pieces: [
      ...halves(argsText).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: argsText },
    ],
    done: { ...call, status: 'completed', arguments: argsText },
  };
}

function head({ id, model }: SpokenReply): Record<string, unknown> {
  return { id, object: 'response', created_at: 0, model, error: null, incomplete_details: null };
}
