/** Responses in the format of the vendor, written for these tests. */
type Recorded = readonly {
  readonly name: string;
  readonly text: string;
  readonly requests: readonly (readonly [id: string, name: string, args: object])[];
  readonly errors: readonly string[];
  readonly says: string;
}[];

const stream = (...all: readonly object[]): string =>
  all.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('') + 'data: [DONE]\r\n\r\n';

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (index: number, rest: object): object => chunk({ tool_calls: [{ index, ...rest }] });
const begin = (index: number, id: string, name: string): object =>
  call(index, { id, type: 'function', function: { name, arguments: '' } });
const more = (index: number, text: string): object => call(index, { function: { arguments: text } });
const whole = (id: string, name: string, args: string): object => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

export const CHAT_REPLIES: Recorded = [
  {
    name: 'a completion with two calls',
    text: JSON.stringify(
      {
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Sure.',
              tool_calls: [whole('call_1', 'weather__query', '{"query":"深圳","unit":null}'), whole('call_2', 'clock', '')],
            },
            finish_reason: 'tool_calls',
          },
        ],
      },
      null,
      2,
    ),
    requests: [
      ['call_1', 'weather__query', { query: '深圳', unit: null }],
      ['call_2', 'clock', {}],
    ],
    errors: [],
    says: 'Sure.',
  },
  {
    name: 'a stream with two calls',
    text: stream(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'I will ' }),
      chunk({ content: '看看 😀' }),
      begin(0, 'call_3', 'fs_write'),
      more(0, '{"path":"a'),
      more(0, '\\n\\"b","n":[1,{}]}'),
      begin(1, 'call_4', 'clock'),
      more(1, '{}'),
      chunk({}, 'tool_calls'),
      { choices: [], usage: { total_tokens: 9 } },
    ),
    requests: [
      ['call_3', 'fs_write', { path: 'a\n"b', n: [1, {}] }],
      ['call_4', 'clock', {}],
    ],
    errors: [],
    says: 'I will 看看 😀',
  },
  {
    name: 'a stream that hit its limit',
    text: stream(begin(0, 'call_5', 'a'), more(0, '{"x":1}'), begin(1, 'call_6', 'b'), more(1, '{"x'), chunk({}, 'length')),
    requests: [['call_5', 'a', { x: 1 }]],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a stream that a content filter ended',
    text: stream(begin(0, 'call_5', 'a'), more(0, '{"x":1}'), begin(1, 'call_6', 'b'), chunk({}, 'content_filter')),
    requests: [['call_5', 'a', { x: 1 }]],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a response that a content filter ended',
    text: JSON.stringify({
      choices: [{ message: { content: null, tool_calls: [whole('call_7', 'a', '{}')] }, finish_reason: 'content_filter' }],
    }),
    requests: [],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a stream that breaks off',
    text: stream(begin(0, 'call_7', 'a'), more(0, '{"x":1}')).replace('data: [DONE]\r\n\r\n', ''),
    requests: [],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'arguments that are no object, harmful or broken, and a call without a name',
    text: JSON.stringify({
      role: 'assistant',
      content: null,
      tool_calls: [
        whole('call_8', 'a', '"x"'),
        whole('call_9', 'b', '{"__proto__": {}}'),
        whole('call_10', 'c', '{"x":'),
        whole('call_11', '', '{}'),
      ],
    }),
    requests: [],
    errors: ['arguments_invalid', 'arguments_invalid', 'arguments_invalid', 'tool_name_missing'],
    says: '',
  },
  { name: 'a list of calls', text: JSON.stringify([whole('c', 'a', '{}')]), requests: [['c', 'a', {}]], errors: [], says: '' },
  { name: 'text that is no response', text: 'I will look.\nThen decide.', requests: [], errors: ['reply_invalid'], says: '' },
  { name: 'no message', text: '{"data": 1}', requests: [], errors: ['reply_invalid'], says: '' },
];

const added = (output_index: number, item: object): object => ({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: object): object => ({ type: 'response.output_item.done', output_index, item });
const fn = (call_id: string, name: string, args: string, status = 'completed'): object => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: args,
  status,
});
const text = (words: string): object => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words }] });

export const RESPONSES_REPLIES: Recorded = [
  { name: 'text that is no response', text: 'I will look.\nThen decide.', requests: [], errors: ['reply_invalid'], says: '' },
  {
    name: 'a response with two calls',
    text: JSON.stringify({
      object: 'response',
      output: [{ type: 'reasoning', summary: [] }, text('好。'), fn('call_1', 'a', '{"x":1}'), fn('call_2', 'b', '')],
    }),
    requests: [
      ['call_1', 'a', { x: 1 }],
      ['call_2', 'b', {}],
    ],
    errors: [],
    says: '好。',
  },
  {
    name: 'a stream with text and two calls',
    text: stream(
      { type: 'response.created', response: { output: [] } },
      { type: 'response.output_text.delta', output_index: 0, delta: 'One ' },
      { type: 'response.output_text.delta', output_index: 0, delta: 'moment.' },
      done(0, text('One moment.')),
      added(1, fn('call_3', 'a', '', 'in_progress')),
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"x":' },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '"é"}' },
      { type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"x":"é"}' },
      done(1, fn('call_3', 'a', '{"x":"é"}')),
      added(2, fn('call_4', 'b', '', 'in_progress')),
      done(2, fn('call_4', 'b', '{}')),
      { type: 'response.completed', response: {} },
    ),
    requests: [
      ['call_3', 'a', { x: 'é' }],
      ['call_4', 'b', {}],
    ],
    errors: [],
    says: 'One moment.',
  },
  {
    name: 'a stream that breaks off',
    text: stream(
      added(0, fn('call_5', 'a', '', 'in_progress')),
      done(0, fn('call_5', 'a', '{}', 'incomplete')),
      added(1, fn('call_6', 'b', '', 'in_progress')),
      { type: 'error', message: 'gone' },
    ),
    requests: [],
    errors: ['reply_cut', 'reply_invalid', 'reply_cut'],
    says: '',
  },
  { name: 'one item', text: JSON.stringify(fn('c', 'a', '{}')), requests: [['c', 'a', {}]], errors: [], says: '' },
  { name: 'no response', text: '{"data": 1}', requests: [], errors: ['reply_invalid'], says: '' },
];
