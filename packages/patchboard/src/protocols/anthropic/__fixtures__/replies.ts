/** Responses in the format of the vendor, written for these tests. */
const events = (...all: readonly object[]): string =>
  all.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const start = (index: number, content_block: object): object => ({ type: 'content_block_start', index, content_block });
const json = (index: number, partial_json: string): object => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
});
const stop = (index: number): object => ({ type: 'content_block_stop', index });

export const ANTHROPIC_REPLIES: readonly {
  readonly name: string;
  readonly text: string;
  readonly requests: readonly (readonly [id: string, name: string, args: object])[];
  readonly errors: readonly string[];
  readonly says: string;
}[] = [
  {
    name: 'a message with two calls',
    text: JSON.stringify({
      id: 'msg_01',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'text', text: 'Both at once, 两个。' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather__query', input: { query: '深圳' } },
        { type: 'tool_use', id: 'toolu_2', name: 'clock', input: {} },
      ],
      stop_reason: 'tool_use',
    }),
    requests: [
      ['toolu_1', 'weather__query', { query: '深圳' }],
      ['toolu_2', 'clock', {}],
    ],
    errors: [],
    says: 'Both at once, 两个。',
  },
  {
    name: 'a stream with text and two calls',
    text: events(
      { type: 'message_start', message: { id: 'msg_02', content: [] } },
      start(0, { type: 'text', text: '' }),
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Look: "😀"\n' } },
      stop(0),
      start(1, { type: 'tool_use', id: 'toolu_3', name: 'fs_write', input: {} }),
      json(1, ''),
      json(1, '{"path": "a\\"b", "text"'),
      json(1, ': "<<<[TOOL_REQUEST]>>>\\n{}"}'),
      stop(1),
      start(2, { type: 'tool_use', id: 'toolu_4', name: 'clock', input: {} }),
      stop(2),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ),
    requests: [
      ['toolu_3', 'fs_write', { path: 'a"b', text: '<<<[TOOL_REQUEST]>>>\n{}' }],
      ['toolu_4', 'clock', {}],
    ],
    errors: [],
    says: 'Look: "😀"\n',
  },
  {
    name: 'a stream that breaks off within the second call',
    text: events(
      start(0, { type: 'tool_use', id: 'toolu_5', name: 'clock', input: {} }),
      json(0, '{}'),
      stop(0),
      start(1, { type: 'tool_use', id: 'toolu_6', name: 'fs_write', input: {} }),
      json(1, '{"path": "a"'),
    ).trimEnd(),
    requests: [['toolu_5', 'clock', {}]],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a stream whose arguments are no object, or broken',
    text: events(
      start(0, { type: 'tool_use', id: 'toolu_7', name: 'a', input: {} }),
      json(0, '[1]'),
      stop(0),
      start(1, { type: 'tool_use', id: 'toolu_8', name: 'b', input: {} }),
      json(1, '{"a": 1, "a": 2}'),
      stop(1),
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ),
    requests: [],
    errors: ['arguments_invalid', 'arguments_invalid', 'reply_invalid'],
    says: '',
  },
  {
    name: 'a message that hit its limit within a call',
    text: JSON.stringify({
      content: [
        { type: 'tool_use', id: 'toolu_9', name: 'a', input: { x: 1 } },
        { type: 'tool_use', id: 'toolu_10', name: 'b', input: {} },
      ],
      stop_reason: 'max_tokens',
    }),
    requests: [['toolu_9', 'a', { x: 1 }]],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a message that was refused within a call',
    text: JSON.stringify({
      content: [{ type: 'tool_use', id: 'toolu_9', name: 'a', input: {} }],
      stop_reason: 'refusal',
    }),
    requests: [],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a stream that filled the context window within a call',
    text: events(
      start(0, { type: 'tool_use', id: 'toolu_9', name: 'a', input: {} }),
      stop(0),
      { type: 'message_delta', delta: { stop_reason: 'model_context_window_exceeded' } },
    ),
    requests: [],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a stream that hit its limit before the arguments of a call',
    text: events(
      start(0, { type: 'tool_use', id: 'toolu_11', name: 'clock', input: {} }),
      stop(0),
      start(1, { type: 'tool_use', id: 'toolu_12', name: 'fs_clear', input: {} }),
      json(1, ''),
      stop(1),
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
      { type: 'message_stop' },
    ),
    requests: [['toolu_11', 'clock', {}]],
    errors: ['reply_cut'],
    says: '',
  },
  {
    name: 'a stream that breaks off after a call without arguments',
    text: events(
      start(0, { type: 'tool_use', id: 'toolu_13', name: 'clock', input: {} }),
      stop(0),
    ),
    requests: [['toolu_13', 'clock', {}]],
    errors: [],
    says: '',
  },
  { name: 'half a body', text: '{"content": [{"type": "tool_u', requests: [], errors: ['reply_invalid'], says: '' },
  { name: 'no message', text: '{"object": "list"}', requests: [], errors: ['reply_invalid'], says: '' },
  { name: 'text that is no response', text: 'I will look.\nThen decide.', requests: [], errors: ['reply_invalid'], says: '' },
  { name: 'an event that is no JSON', text: 'data: {oops\n\n', requests: [], errors: ['reply_invalid'], says: '' },
  { name: 'nothing', text: ' \n', requests: [], errors: [], says: '' },
];
