import { FAILURE_CODES, type FailureCode } from '@patchboard/wire';

const CLIENT_CODES = ['network_error', 'client_timeout', 'bad_response'] as const;

type Code = FailureCode | (typeof CLIENT_CODES)[number];

/** The server speaks English: what it says of a failure is said as it is. */
const failures = Object.fromEntries(
  [...FAILURE_CODES, ...CLIENT_CODES].map((code) => [code, '{said}']),
) as Readonly<Record<Code, string>>;

/** What others say: the server of failures, decisions and replies, and the reader of JSON. */
export const saidWords = {
  failures,
  said: {
    destructive: 'the tool is destructive',
    requiresApproval: 'the tool requires approval',
    harmless: 'the tool is not marked as risky',
    mode: 'mode is {mode}',
    noHook: 'mode is custom, and no hook decided',
    switchedOff: '{tool} is switched off',
    notSwitchedOn: '{tool} is not switched on',
    named: '{pattern} names it',
    byRule: 'a rule says so',
    noRule: 'no rule applies',
    granted: '{who} said not to ask again',
    hookAsks: 'a hook asks',
    commandWithoutSandbox:
      'this server has no sandbox: the command runs as the user {user}, can read and change every file of that user, and has the network',
    writeWithoutSandbox:
      'this server has no sandbox: it writes as the user {user}, and only the check of its path keeps it in the workspace',
    hookAllowed: 'a hook allowed it',
    hookHadIt: 'a hook had the result',
    hookDenied: 'Denied by hook',
    valueUnclosed: 'the value of "{key}" is not closed: write {mark} right after it',
    someValueUnclosed: 'a value is not closed: write {mark} right after it',
    valueOpenBeforeRequest:
      'the value of "{key}" is not closed before {start}: write {mark} right after it, or write the value between {from} and {to} if the marker is part of it',
    someValueOpenBeforeRequest:
      'a value is not closed before {start}: write {mark} right after it, or write the value between {from} and {to} if the marker is part of it',
    requestNested:
      'the request stands inside a value that is not closed, and is not run: close the value before it, or write the value between {from} and {to}',
    unended: 'the request has no end: write {mark} after its last field',
    runsOn: 'the request has no end before the next one begins: write {mark} after its last field',
    noToolNamed: 'the request names no tool: add {field}',
    noToolCalled: 'the call names no tool',
    batchTooLarge: 'a batch may hold {count} commands: write several requests',
    givenTwice: '"{key}" is given twice: write each field once',
    noArgumentName: '"{key}" cannot be the name of an argument',
    valueOutside: 'the value of "{key}" must stand between 「始」 and 「末」',
    fieldsOnly: 'only fields may stand in a request, each written as {field}',
    argumentsNoObject: 'the arguments of {tool} are no JSON object: {problem}',
    replyCut: 'the reply ended before the call of {tool} was complete',
    noContent: 'the reply is no message: it has no "content"',
    noContentOrCalls: 'the reply is no message: it has neither "content" nor "tool_calls"',
    forOperators: '{tool} is for operators, not for an AI',
    needsCredential: '{tool} is only for those who show who they are',
    mayNotCall: 'permission denied: this agent may not call {tool}',
    problemsOmitted: '{count} more problems of this reply are not listed',
    batchTooLong:
      'the shared fields of a batch may take {count} characters over all commands: write several requests',
    toolUnknown: 'tool not found: {tool}',
    keyUnused: '"{key}" is not used by {tool}',
    keyNeedsArgument: '"{key}" is an argument only where the tool has one of that name',
    argumentMissing: '"{key}" is required',
    argumentUnknown: '"{key}" is no argument of this tool',
    argumentWrong: '"{key}" must be of type {type}',
    argumentNoJson: '"{key}" must be of type {type}, written as JSON{problem}',
  },
  json: {
    problem: 'line {line}, column {column}: {what}',
    InvalidSymbol: 'this word means nothing in JSON',
    InvalidNumberFormat: 'this is no number',
    PropertyNameExpected: 'a name in double quotes is wanted',
    ValueExpected: 'a value is wanted',
    ColonExpected: 'a colon is wanted',
    CommaExpected: 'a comma is wanted',
    CloseBraceExpected: 'a closing brace is wanted',
    CloseBracketExpected: 'a closing bracket is wanted',
    EndOfFileExpected: 'the text should end here',
    InvalidCommentToken: 'JSON has no comments',
    UnexpectedEndOfComment: 'JSON has no comments',
    UnexpectedEndOfString: 'the text in quotes does not end',
    UnexpectedEndOfNumber: 'the number does not end',
    InvalidUnicode: 'four hexadecimal digits are wanted',
    InvalidEscapeCharacter: 'this escape means nothing in JSON',
    InvalidCharacter: 'this character must be written as an escape',
  },
};
