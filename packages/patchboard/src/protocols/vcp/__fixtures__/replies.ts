/** Replies in the style of models, written for these tests, with the expected items. */
export interface RecordedReply {
  readonly name: string;
  readonly text: string;
  /** `toolName` and `command` joined by a blank, with the arguments. */
  readonly requests: readonly (readonly [string, Readonly<Record<string, string>>])[];
  readonly errors: readonly string[];
}

const lines = (...all: readonly string[]): string => all.join('\n');

export const REPLIES: readonly RecordedReply[] = [
  {
    name: 'one call after a thought',
    text: lines(
      '<think>The user wants the files. <<<[TOOL_REQUEST]>>> is how I ask.</think>',
      '我先看看目录。',
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」directory-tree_listFiles「末」',
      'path:「始」src/tools「末」',
      'recursive:「始」false「末」',
      '<<<[END_TOOL_REQUEST]>>>',
      '请稍等。',
    ),
    requests: [['directory-tree_listFiles', { path: 'src/tools', recursive: 'false' }]],
    errors: [],
  },
  {
    name: 'two calls in the newer dialect, one of them terse',
    text: lines(
      'Both at once.',
      '<<<[TOOL_REQUEST]>>>',
      'maid:「始」Nova「末」,',
      'tool_name:「始」FileOperator「末」,',
      'command:「始」ReadFile「末」,',
      'filePath:「始」/tmp/a b.txt「末」',
      '<<<[END_TOOL_REQUEST]>>>',
      '<<<[TOOL_REQUEST]>>>tool_name :「始」Clock「末」command: 「始」Now「末」archery:「始」no_reply「末」<<<[END_TOOL_REQUEST]>>>',
    ),
    requests: [
      ['FileOperator ReadFile', { filePath: '/tmp/a b.txt' }],
      ['Clock Now', {}],
    ],
    errors: [],
  },
  {
    name: 'a batch with shared fields and a name that only looks numbered',
    text: lines(
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」FileOperator「末」,',
      'sha256:「始」abc「末」,',
      'command1:「始」CreateDir「末」,',
      'path1:「始」/a「末」,',
      'command2:「始」Write「末」,',
      'path2:「始」/a/b「末」,',
      'content2:「始」1「末」',
      '<<<[END_TOOL_REQUEST]>>>',
    ),
    requests: [
      ['FileOperator CreateDir', { sha256: 'abc', path: '/a' }],
      ['FileOperator Write', { sha256: 'abc', path: '/a/b', content: '1' }],
    ],
    errors: [],
  },
  {
    name: 'a file that explains the protocol, escaped',
    text: lines(
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」fs_write「末」',
      'text:「始ESCAPE」',
      'Write <<<[TOOL_REQUEST]>>> first,',
      'then <<<[END_TOOL_REQUEST]>>>; <<<[TOOL_REQUEST_ESCAPE]>>> and 「始ESCAPE」 stand for the plain ones, 「末」 for itself.',
      '「末ESCAPE」',
      'note:「始ESCAPE7」「末ESCAPE」「始」<think>「末ESCAPE7」',
      '<<<[END_TOOL_REQUEST]>>>',
      'Done.',
    ),
    requests: [
      [
        'fs_write',
        {
          text: lines(
            'Write <<<[TOOL_REQUEST]>>> first,',
            'then <<<[END_TOOL_REQUEST]>>>; <<<[TOOL_REQUEST]>>> and 「始」 stand for the plain ones, 「末」 for itself.',
          ),
          note: '「末ESCAPE」「始」<think>',
        },
      ],
    ],
    errors: [],
  },
  {
    name: 'examples in a fence, in inline code and in a quote, and a call after them',
    text: lines(
      'Like this:',
      '```text',
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」rm_all「末」',
      '<<<[END_TOOL_REQUEST]>>>',
      '```',
      'or `<<<[TOOL_REQUEST]>>>tool_name:「始」rm_all「末」<<<[END_TOOL_REQUEST]>>>`, or',
      '> ````',
      '> <<<[TOOL_REQUEST]>>>tool_name:「始」rm_all「末」<<<[END_TOOL_REQUEST]>>>',
      '> ```',
      '> ````  ',
      "It's a `stray tick",
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」ls_now「末」',
      '<<<[END_TOOL_REQUEST]>>>',
    ),
    requests: [['ls_now', {}]],
    errors: [],
  },
  {
    name: 'values of several lines, with CRLF, emoji, dollars and backslashes',
    text:
      '<<<[TOOL_REQUEST]>>>\r\ntool_name:「始」\r\nbash_run\r\n「末」,\r\nscript:「始」\r\necho "$1" \\n `date`\r\n```\r\n😀 </think>\r\n\r\n「末」\r\n' +
      '<<<[END_TOOL_REQUEST]>>>\r\n',
    requests: [['bash_run', { script: 'echo "$1" \\n `date`\r\n```\r\n😀 </think>\r\n' }]],
    errors: [],
  },
  {
    name: 'a value that was never closed, and a good call after it',
    text: lines(
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」a_b「末」',
      'path:「始」src',
      '<<<[END_TOOL_REQUEST]>>>',
      'and',
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」c_d「末」',
      '<<<[END_TOOL_REQUEST]>>>',
    ),
    requests: [['c_d', {}]],
    errors: ['value_unclosed 3:6'],
  },
  {
    name: 'a value that runs into the next field',
    text: lines(
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」a_b「末」',
      'path:「始」src',
      'recursive:「始」true「末」',
      '<<<[END_TOOL_REQUEST]>>>',
    ),
    requests: [],
    errors: ['value_unclosed 3:6'],
  },
  {
    name: 'a block without an end, before another',
    text: lines(
      'x <<<[TOOL_REQUEST]>>>',
      'tool_name:「始」a_b「末」',
      '<<<[TOOL_REQUEST]>>>',
      'tool_name:「始」c_d「末」',
      '<<<[END_TOOL_REQUEST]>>>',
    ),
    requests: [['c_d', {}]],
    errors: ['block_unclosed 1:3'],
  },
  {
    name: 'no name, a field given twice, loose text, no value markers; then the reply breaks off',
    text: lines(
      '<<<[TOOL_REQUEST]>>>path:「始」a「末」<<<[END_TOOL_REQUEST]>>>',
      '<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」',
      '  x:「始」1「末」 x:「始」2「末」<<<[END_TOOL_REQUEST]>>>',
      '<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」 please',
      'y:「始ESCAPE」<<<[TOOL_REQUEST]>>>tool_name:「始」evil「末」<<<[END_TOOL_REQUEST]>>>「末ESCAPE」<<<[END_TOOL_REQUEST]>>>',
      '<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」path: src <<<[END_TOOL_REQUEST]>>>',
      '<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」text:「始ESCAPE」<<<[TOOL_REQUEST]>>>tool_name:「始」evil「末」<<<[END_TOOL_REQUEST]>>>',
    ),
    requests: [],
    errors: [
      'tool_name_missing 1:1',
      'key_duplicate 3:13',
      'text_unexpected 4:41',
      'text_unexpected 6:46',
      'value_unclosed 7:45',
    ],
  },
  {
    name: 'a fence that is never closed hides the rest',
    text: 'So:\n```\n<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」<<<[END_TOOL_REQUEST]>>>\n``` js\n',
    requests: [],
    errors: [],
  },
  {
    name: 'a thought that is never closed hides the rest',
    text: '<thinking>I will </think> <<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」<<<[END_TOOL_REQUEST]>>>',
    requests: [],
    errors: [],
  },
];
