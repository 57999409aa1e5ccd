import { FAILURE_CODES, type FailureCode } from '@patchboard/wire';

const CLIENT_CODES = ['network_error', 'client_timeout', 'bad_response'] as const;

type Code = FailureCode | (typeof CLIENT_CODES)[number];

/** The server speaks English: what it says of a failure is said as it is. */
const failures = Object.fromEntries(
  [...FAILURE_CODES, ...CLIENT_CODES].map((code) => [code, '{said}']),
) as Readonly<Record<Code, string>>;

/** What others say: the server of failures that have no reasons, and the reader of JSON. */
export const saidWords = {
  failures,
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
