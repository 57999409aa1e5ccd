/** What others say: the client of failures that only it can know, and the reader of JSON. */
export const saidWords = {
  failures: {
    network_error: '{said}',
    client_timeout: '{said}',
    bad_response: '{said}',
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
